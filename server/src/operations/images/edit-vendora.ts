import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { Run } from "../../kit/shapes.ts";
import { shapeIsKept } from "./masked.ts";
import { editDeprecated, editFields, editPlan, editRules, hasMask, maskFields, readReference } from "./model-edit.ts";

export const editVendora = defineOperation({
  name: "images.edit.vendora",
  summary: "Edit an image in words with vendora, within a mask if you like",
  http: { method: "POST", path: "/edits/vendora", bodies: ["json", "form"] },
  run_type: "image-edit",

  input: z.object({ ...editFields, ...maskFields, n: z.int().min(1).max(4).default(1).describe("How many images") }),
  rules: editRules,
  output: Run,
  example: { image_url: "https://example.com/desk.png", prompt: "make the lamp blue" },
  deprecated: editDeprecated,

  adapt: readReference,
  parent: (asked) => asked.run_id,
  adapted: (asked, given) => (hasMask(asked) ? shapeIsKept(given) : []),
  plan: (asked) => editPlan("vendora", asked, asked.n),
  reply: (run) => run,
});
