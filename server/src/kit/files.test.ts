import { expect, it } from "vitest";
import { createFilePart, fileField, isFilePart } from "./files.ts";

const part = { path: "/tmp/a", filename: "a.png", size_bytes: 3, sha256: "0".repeat(64) };

it("is only what the form parser created: a JSON body of the same shape is not", () => {
  expect(isFilePart(createFilePart(part))).toBe(true);
  expect(isFilePart(part)).toBe(false);
  expect(isFilePart({ ...createFilePart(part) })).toBe(false);
  expect(isFilePart(JSON.parse(JSON.stringify(createFilePart(part))))).toBe(false);
});

it("cannot be changed to another file", () => {
  const made = createFilePart(part);
  expect(() => Object.assign(made, { path: "/etc/passwd" })).toThrow(TypeError);
});

it("is refused as a field if the form sent text", () => {
  const field = fileField("The image");
  expect(field.safeParse(createFilePart(part)).success).toBe(true);
  expect(field.safeParse("a.png").success).toBe(false);
});
