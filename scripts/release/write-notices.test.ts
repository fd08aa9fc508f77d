import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { findPackageFolders, NOTICES_FILE, writeNotices } from "./write-notices.ts";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "gesso-notices-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function listFiles(folder: string, files: string[]): string {
  writeFileSync(join(folder, "contents.json"), JSON.stringify(files));
  return join(folder, "contents.json");
}

it("finds each package once, also one below another, and ignores own files", () => {
  const files = [
    "node_modules/@a/b/x.js",
    "node_modules/@a/b/y.js",
    "node_modules/c/node_modules/d/z.js",
    "src/own.ts",
  ];
  expect(findPackageFolders(files)).toEqual(["node_modules/@a/b", "node_modules/c/node_modules/d"]);
});

it("contains the licences of the fonts and of React", () => {
  const folder = newFolder();
  const font = "node_modules/@fontsource-variable/geist/files/geist-latin-wght-normal.woff2";
  writeNotices(listFiles(folder, [font, "node_modules/react/index.js"]), folder);
  const text = readFileSync(join(folder, NOTICES_FILE), "utf8");
  expect(text).toContain("SIL OPEN FONT LICENSE");
  expect(text).toMatch(/^react [\d.]+ \(MIT\)$/m);
});

it("fails on a package without a licence text", () => {
  const folder = newFolder();
  const bare = join(folder, "node_modules/bare");
  mkdirSync(bare, { recursive: true });
  writeFileSync(join(bare, "package.json"), JSON.stringify({ name: "bare", version: "1.0.0", license: "MIT" }));
  expect(() => writeNotices(listFiles(folder, [join(bare, "index.js")]), folder)).toThrow("bare is in the console");
});
