import { expect, it } from "vitest";
import { dataUrlSize, inlineProblem, isDataUrl } from "./file-input.ts";

it("knows a data URL and the size of its file", () => {
  expect(isDataUrl("data:audio/wav;base64,AAAA")).toBe(true);
  expect(isDataUrl("https://example.com/a.wav")).toBe(false);
  for (const bytes of ["", "a", "ab", "abc", "abcd"]) {
    expect(dataUrlSize(`data:text/plain;base64,${btoa(bytes)}`)).toBe(bytes.length);
  }
});

it("refuses empty files and files above 5 MiB", () => {
  expect(inlineProblem({ name: "a.wav", size: 5 * 1024 * 1024 })).toBeUndefined();
  expect(inlineProblem({ name: "a.wav", size: 0 })).toBe("a.wav is empty.");
  expect(inlineProblem({ name: "a.wav", size: 5 * 1024 * 1024 + 1 })).toContain("5 MiB");
});
