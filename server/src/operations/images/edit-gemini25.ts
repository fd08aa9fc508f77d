import { z } from "zod";
import { defineRun } from "../../contract/operation.ts";
import { asGeneration, Generation } from "../../contract/schemas/run.ts";
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

export const editGemini25 = defineRun({
  name: "images.edit.gemini25",
  summary: "Edit an image by prompt with gemini-2.5, optionally within a mask",
  http: { method: "POST", path: "/edits/gemini-2.5", bodies: ["json", "form"] },
  run_type: "image-edit",

  input: z.object({ ...editFields, ...maskFields }),
  rules: editRules,
  output: Generation,
  example: { image_url: "https://example.com/desk.png", prompt: "add a plant on the left" },
  deprecated: editDeprecated,

  translateDeprecated: translateReferenceUrl,
  parent: (input) => input.run_id,
  adjustments: (input, provided) => (hasMask(input) ? aspectRatioIgnored(provided) : []),
  plan: (input) => editPlan("gemini-2.5", input),
  renderResponse: asGeneration,
});
