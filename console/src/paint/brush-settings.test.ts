import { expect, it } from "vitest";
import { readBrushSettings, saveBrushSettings, stepBrushSize } from "./brush-settings.ts";

const createStorage = (stored?: string) => {
  let value = stored ?? null;
  return {
    getItem: () => value,
    setItem: (_key: string, next: string) => {
      value = next;
    },
  };
};

it("keeps the brush, and replaces values that it cannot use", () => {
  const storage = createStorage();
  const brush = { size: 33, hardness: 10, colour: "green" as const, opacity: 70 };
  saveBrushSettings(storage, brush);
  expect(readBrushSettings(storage)).toEqual(brush);
  const broken = '{"size":-4,"hardness":"no","colour":"plaid","opacity":20}';
  expect(readBrushSettings(createStorage(broken))).toEqual({ size: 80, hardness: 80, colour: "magenta", opacity: 20 });
  expect(readBrushSettings(createStorage("not JSON")).size).toBe(80);
});

it("changes the size by about a tenth, by at least one pixel", () => {
  expect(stepBrushSize(80, true)).toBe(88);
  expect(stepBrushSize(80, false)).toBe(72);
  expect(stepBrushSize(1, false)).toBe(1);
  expect(stepBrushSize(3, true)).toBe(4);
  expect(stepBrushSize(1000, true)).toBe(1000);
});
