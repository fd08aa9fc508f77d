import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { lintPackage } from "./lint-package.ts";

function writePackage(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "gesso-lint-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

const manifest = (name: string, fields: object) =>
  JSON.stringify({ name, version: "1.0.0", license: "MIT", ...fields });
const MODULE = "export const one = 1;\n";

it("finds what is wrong in the package, and leaves the dependencies that it contains alone", async () => {
  const dependency = {
    "node_modules/dep/package.json": manifest("dep", { main: "index.js" }),
    "node_modules/dep/index.js": MODULE,
  };
  const right = writePackage({
    "package.json": manifest("right", { type: "module", exports: "./index.js", bundleDependencies: ["dep"] }),
    "index.js": MODULE,
    ...dependency,
  });
  expect(await lintPackage(right)).toEqual([]);
  const wrong = writePackage({
    "package.json": manifest("wrong", { type: "module", exports: "./absent.js" }),
    "index.js": MODULE,
    ...dependency,
  });
  expect(await lintPackage(wrong)).toEqual([expect.stringContaining("./absent.js")]);
});
