import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { Run } from "../../kit/schemas/run.ts";
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

  translateDeprecated: translateReferenceUrl,
  parent: (asked) => asked.run_id,
  adjustments: (asked, given) => (hasMask(asked) ? aspectRatioIgnored(given) : []),
  plan: (asked) => editPlan("vendora", asked, asked.n),
  renderResponse: (run) => run,
});
