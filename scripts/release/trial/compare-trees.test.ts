import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { LockedTree } from "../locked-tree.ts";
import { compareTrees } from "./compare-trees.ts";

function installed(packages: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "gesso-tree-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, version] of Object.entries(packages)) {
    mkdirSync(join(folder, path), { recursive: true });
    writeFileSync(join(folder, path, "package.json"), JSON.stringify({ version }));
  }
  return folder;
}

const treeOf = (versions: Record<string, string>): LockedTree =>
  Object.fromEntries(
    Object.entries(versions).map(([place, version]) => [place, { version, source: place, forEverySystem: true }]),
  );

it("accepts the locked versions, also nested ones, without those of other systems", () => {
  const versions = { "node_modules/@a/b": "1.0.0", "node_modules/@a/b/node_modules/c": "2.0.0" };
  const folder = installed({ ...versions, "node_modules/node": "24.0.0", "node_modules/of-windows": "1.2.0" });
  const windows = { version: "1.0.0", source: "", forEverySystem: false };
  const other = { "node_modules/windows": windows, "node_modules/windows/node_modules/of-windows": windows };
  const tree = { ...treeOf(versions), ...other };
  expect(compareTrees(folder, tree, { node: "24.0.0" })).toEqual({ packages: 4, differences: [] });
});

it("names a newer, a missing and an additional package", () => {
  const folder = installed({ "node_modules/a": "1.1.0", "node_modules/c": "1.0.0" });
  expect(compareTrees(folder, treeOf({ "node_modules/a": "1.0.0", "node_modules/b": "1.0.0" })).differences).toEqual([
    "node_modules/a: 1.1.0 instead of 1.0.0",
    "node_modules/b: nothing instead of 1.0.0",
    "node_modules/c is not in the lock file",
  ]);
});
