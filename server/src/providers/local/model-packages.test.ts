import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished, vi } from "vitest";
import { modelsFolder } from "./model-packages.ts";

it("looks for the models in the working directory, not beside the program, which may be in node_modules", () => {
  const cwd = vi.spyOn(process, "cwd").mockReturnValue(tmpdir());
  onTestFinished(() => cwd.mockRestore());
  expect(modelsFolder(undefined)).toBe(join(tmpdir(), ".gesso", "models"));
  const program = fileURLToPath(new URL("../../../../", import.meta.url));
  expect(modelsFolder(undefined).startsWith(program)).toBe(false);
});

it("takes the folder that is named", () => {
  expect(modelsFolder("models")).toBe(resolve("models"));
});
