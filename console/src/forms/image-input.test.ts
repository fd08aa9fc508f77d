import { expect, it } from "vitest";
import { fileProblem, parseReference, runIdOf } from "./image-input.ts";

const ID = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
const MIB = 1024 * 1024;

it("tells URLs and runs apart", () => {
  expect(parseReference(` ${ID.toUpperCase()} `)).toEqual({ kind: "run", runId: ID });
  expect(parseReference("https://example.com/a.png")).toEqual({ kind: "url", url: "https://example.com/a.png" });
  expect(parseReference("javascript:alert(1)")).toBeUndefined();
  expect(parseReference("a lighthouse")).toBeUndefined();
});

it("refuses HEIC, empty files and files over 25 MiB before they are uploaded", () => {
  expect(fileProblem({ name: "IMG_2041.heic", type: "image/heic", size: MIB })).toContain("not supported");
  expect(fileProblem({ name: "a.png", type: "image/png", size: 0 })).toContain("empty");
  expect(fileProblem({ name: "a.png", type: "image/png", size: 26 * MIB })).toContain("26.0 MiB");
  expect(fileProblem({ name: "a.png", type: "image/png", size: 25 * MIB })).toBeUndefined();
});

it("finds the run of a value", () => {
  expect(runIdOf(ID)).toBe(ID);
  expect(runIdOf({ run_id: ID, output_index: 2 })).toBe(ID);
  expect(runIdOf("https://example.com/a.png")).toBeUndefined();
  expect(runIdOf(undefined)).toBeUndefined();
});

it("takes the link of a run's page as that run", () => {
  const runId = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
  expect(parseReference(`http://127.0.0.1:7788/console/runs/${runId}?tab=tree`)).toEqual({ kind: "run", runId });
});
