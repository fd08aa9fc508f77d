import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { findModelsFolder } from "./start.ts";

function newDataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "gesso-data-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it("finds the models of the data folder, and otherwise those of the caller's directory", () => {
  const dataDir = newDataFolder();
  expect(findModelsFolder(dataDir, undefined)).toBe(resolve(".gesso/models"));
  mkdirSync(join(dataDir, "models"));
  expect(findModelsFolder(dataDir, undefined)).toBe(join(dataDir, "models"));
});

it("prefers the folder that is named, relative to the caller's directory", () => {
  expect(findModelsFolder(newDataFolder(), "my-models")).toBe(resolve("my-models"));
});
