import type { Output } from "@gesso/client";
import { expect, it } from "vitest";
import { ratioOfRun, tileCountOfRun } from "./run-shape.ts";

const output = { width: 1536, height: 1024, role: "result" } as Output;

it("uses the size of the output, then what the request asked for", () => {
  expect(ratioOfRun({ inputs: { width: 10, height: 10 }, outputs: [output] })).toBe(1.5);
  expect(ratioOfRun({ inputs: { width: 768, height: 512 }, outputs: [] })).toBe(1.5);
  expect(ratioOfRun({ inputs: { aspect_ratio: "16:9" }, outputs: [] })).toBeCloseTo(16 / 9);
  expect(ratioOfRun({ inputs: {}, outputs: [] })).toBe(1);
});

it("reserves as many tiles as the request makes", () => {
  expect(tileCountOfRun({ inputs: { batch_size: 2, batch_count: 2 }, outputs: [] })).toBe(4);
  expect(tileCountOfRun({ inputs: { batch_size: 2 }, outputs: [output] })).toBe(1);
  expect(tileCountOfRun({ inputs: {}, outputs: [] })).toBe(1);
});
