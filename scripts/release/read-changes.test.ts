import { expect, it } from "vitest";
import { readChanges } from "./read-changes.ts";

const CHANGELOG = "# Changelog\n\nWords.\n\n## Unreleased\n\n- New.\n\n## 0.1.0 (2026-11-16)\n\n- First.\n";

it("reads the section of the version", () => {
  expect(readChanges(CHANGELOG, "0.1.0")).toBe("- First.\n");
});

it("reads the unreleased changes for a version without a section", () => {
  expect(readChanges(CHANGELOG, "0.2.0-rc.1")).toBe("- New.\n");
});

it("does not take the section of a version that begins alike", () => {
  expect(() => readChanges("## 0.1.01\n\n- Other.\n", "0.1.0")).toThrow("no changes for 0.1.0");
});

it("refuses to release nothing", () => {
  expect(() => readChanges("## Unreleased\n\n", "0.1.0")).toThrow();
});
