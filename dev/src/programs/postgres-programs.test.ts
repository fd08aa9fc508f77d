import { lstatSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { linkLibraries } from "./postgres-programs.ts";

function newPackage(): string {
  const folder = mkdtempSync(join(tmpdir(), "gesso-postgres-package-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "native", "lib"), { recursive: true });
  writeFileSync(join(folder, "native", "lib", "libpq.so.5.18"), "library");
  const link = { source: "native/lib/libpq.so.5.18", target: "native/lib/libpq.so.5" };
  writeFileSync(join(folder, "native", "pg-symlinks.json"), JSON.stringify([link]));
  return folder;
}

it("links the libraries that npm left without links, and does so again without a change", () => {
  const folder = newPackage();
  linkLibraries(folder);
  linkLibraries(folder);
  expect(readlinkSync(join(folder, "native", "lib", "libpq.so.5"))).toBe("libpq.so.5.18");
});

it("leaves a file alone that has the name of a link", () => {
  const folder = newPackage();
  const file = join(folder, "native", "lib", "libpq.so.5");
  writeFileSync(file, "library");
  linkLibraries(folder);
  expect(lstatSync(file).isSymbolicLink()).toBe(false);
});

it("needs no list of links", () => {
  const folder = mkdtempSync(join(tmpdir(), "gesso-postgres-package-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  expect(() => linkLibraries(folder)).not.toThrow();
});
