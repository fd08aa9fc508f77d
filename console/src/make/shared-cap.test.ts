import { expect, it } from "vitest";
import { withSharedCap } from "./shared-cap.ts";

const request = (model: string, max_cost?: number) => ({
  operation: "images.generate",
  model,
  input: { prompt: "a fox", ...(max_cost !== undefined && { max_cost }) },
});

it("divides the cap among several models", () => {
  const capped = withSharedCap([request("a", 0.5), request("b", 0.5)], [0.1, 0.2]);
  expect(capped.map(({ input }) => input.max_cost)).toEqual([0.2, 0.3]);
});

it("leaves a single request and requests without a cap as they are", () => {
  expect(withSharedCap([request("a", 0.5)], [0.1])).toEqual([request("a", 0.5)]);
  expect(withSharedCap([request("a"), request("b")], [0.1, 0.1])).toEqual([request("a"), request("b")]);
});
