import { z } from "zod";
import { defineRun } from "../../contract/operation.ts";
import { Run } from "../../contract/schemas/run.ts";
import { aspectRatioIgnored } from "./mask-blend.ts";
import {
  editDeprecated,
  editFields,
  editPlan,
  editRules,
  hasMask,
  maskFields,
  translateReferenceUrl,
} from "./model-edit.ts";

export const editVendora = defineRun({
  name: "images.edit.vendora",
  summary: "Edit an image by prompt with vendora, optionally within a mask",
  http: { method: "POST", path: "/edits/vendora", bodies: ["json", "form"] },
  run_type: "image-edit",

  input: z.object({
    ...editFields,
    ...maskFields,
    n: z.int().min(1).max(4).default(1).describe("Number of images, 1 to 4. Default: 1"),
  }),
  rules: editRules,
  output: Run,
  example: { image_url: "https://example.com/desk.png", prompt: "make the lamp blue" },
  deprecated: editDeprecated,

  translateDeprecated: translateReferenceUrl,
  parent: (input) => input.run_id,
  adjustments: (input, provided) => (hasMask(input) ? aspectRatioIgnored(provided) : []),
  plan: (input) => editPlan("vendora", input, input.n),
  renderResponse: (run) => run,
});
