import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { buildConsole, isBuildOutdated } from "./console-build.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gesso-console-build-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (path: string, seconds: number) => {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), "");
  for (const part of [path, join(path, "..")]) utimesSync(join(folder, part), seconds, seconds);
};

it("builds nothing where there are no sources, as in a package", () => {
  write("dist/index.html", 10);
  expect(isBuildOutdated(folder)).toBe(false);
});

it("builds if there is no build, or a source is newer", () => {
  write("src/pages/make.tsx", 10);
  utimesSync(join(folder, "src"), 10, 10);
  expect(isBuildOutdated(folder)).toBe(true);
  write("dist/index.html", 20);
  expect(isBuildOutdated(folder)).toBe(false);
  write("src/pages/make.tsx", 30);
  expect(isBuildOutdated(folder)).toBe(true);
});

it("reports a build that fails", async () => {
  write("src/main.tsx", 10);
  const lines: string[] = [];
  await buildConsole((line) => lines.push(line), folder);
  expect(lines).toEqual(["Building the console …", expect.stringMatching(/^The console was not built: /)]);
});
