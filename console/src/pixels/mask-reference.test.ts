import { expect, it } from "vitest";
import { findMaskReference } from "./mask-reference.ts";

const RUN = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";

it("finds the mask of each operation that takes one", () => {
  const find = (given: Record<string, unknown>) => findMaskReference({ given, inputs: {} });
  expect(find({ mask_image_url: RUN })).toEqual({ runId: RUN, outputIndex: 0 });
  expect(find({ mask_url: { run_id: RUN, output_index: 2 } })).toEqual({ runId: RUN, outputIndex: 2 });
  expect(find({ mask: "http://127.0.0.1:7788/files/a/b.png" })).toEqual({ url: "http://127.0.0.1:7788/files/a/b.png" });
  expect(find({ mask_url: "https://example.com/mask.png" })).toBeUndefined();
  expect(find({ prompt: RUN })).toBeUndefined();
});

it("reads the inputs of runs without `given`", () => {
  expect(findMaskReference({ given: null, inputs: { mask_url: RUN } })).toEqual({ runId: RUN, outputIndex: 0 });
});
