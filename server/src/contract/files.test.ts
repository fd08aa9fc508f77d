import { expect, it } from "vitest";
import { createFilePart, fileField, isFilePart, sourceFileField } from "./files.ts";

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

it("can be a reference to a stored file only as the source of a run, so that a request can be repeated", () => {
  const stored = "asset:01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
  const field = sourceFileField("The image");
  expect([field.safeParse(createFilePart(part)).success, field.safeParse(stored).success]).toEqual([true, true]);
  for (const text of ["a.png", "https://example.com/a.png", `${stored}/x`, { asset: stored }])
    expect(field.safeParse(text).success).toBe(false);
  expect(fileField("An upload").safeParse(stored).success).toBe(false);
});
