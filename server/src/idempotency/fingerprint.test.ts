import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createFilePart } from "../contract/files.ts";
import { canonicalJson, fingerprintRequest } from "./fingerprint.ts";

describe("the canonical form of a request", () => {
  it("ignores the order of fields at every depth", () => {
    expect(canonicalJson({ b: { d: 1, c: [{ y: 2, x: 1 }] }, a: null })).toBe(
      '{"a":null,"b":{"c":[{"x":1,"y":2}],"d":1}}',
    );
  });

  it("leaves out undefined fields and the path of an uploaded file", () => {
    const file = createFilePart({ path: "/uploads/1", filename: "a.png", size_bytes: 1, sha256: "ab" });
    expect(canonicalJson({ a: undefined, file })).toBe('{"file":{"filename":"a.png","sha256":"ab","size_bytes":1}}');
  });

  it("keeps a field of the caller that is named path", () => {
    expect(canonicalJson({ metadata: { path: "/a", image: { path: "/b" } } })).toBe(
      '{"metadata":{"image":{"path":"/b"},"path":"/a"}}',
    );
  });

  it("keeps the order of lists and the type of values", () => {
    const forms = [[1, 2], [2, 1], ["1", 2], [[1], 2], [1, null], {}, [], null, "null", "{}"].map(canonicalJson);
    expect(new Set(forms).size).toBe(forms.length);
  });
});

describe("the fingerprint of a request", () => {
  const fingerprint = (operation: string, input: Record<string, unknown>) =>
    fingerprintRequest(operation, input).toString("hex");

  it("ignores sync, which only changes the response", () => {
    expect(fingerprint("images.generate", { sync: true, prompt: "x" })).toBe(
      fingerprint("images.generate", { prompt: "x" }),
    );
  });

  it("differs by operation, by value and by a nested sync", () => {
    const prints = [
      fingerprint("images.generate", { prompt: "x" }),
      fingerprint("images.edit", { prompt: "x" }),
      fingerprint("images.generate", { prompt: "y" }),
      fingerprint("images.generate", { prompt: "x", metadata: { sync: true } }),
      fingerprint("images.generate", { prompt: "x", metadata: {} }),
    ];
    expect(new Set(prints).size).toBe(prints.length);
  });
});

it("a fingerprint is a SHA-256 digest of the operation and the canonical form", () => {
  const expected = createHash("sha256").update('images.generate {"prompt":"x"}').digest("hex");
  expect(fingerprintRequest("images.generate", { prompt: "x" }).toString("hex")).toBe(expected);
});

it("what JSON cannot express is null", () => {
  expect(canonicalJson([undefined, () => 1, true, 1.5, 'a"b'])).toBe('[null,null,true,1.5,"a\\"b"]');
  expect(canonicalJson({ a: 1, c: 2, b: 3 })).toBe('{"a":1,"b":3,"c":2}');
  expect(canonicalJson({ b: 1, a: 2, B: 3, "": 4 })).toBe('{"":4,"B":3,"a":2,"b":1}');
});
