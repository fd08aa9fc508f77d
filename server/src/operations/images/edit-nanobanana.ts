import { z } from "zod";
import { defineRun } from "../../contract/operation.ts";
import { asGeneration, Generation } from "../../contract/schemas/run.ts";
import { editDeprecated, editFields, editPlan, editRules, translateReferenceUrl } from "./model-edit.ts";

export const editNanobanana = defineRun({
  name: "images.edit.nanobanana",
  summary: "Edit an image by prompt with nanobanana",
  http: { method: "POST", path: "/edits/nanobanana", bodies: ["json", "form"] },
  run_type: "image-edit",

  input: z.object({ ...editFields }),
  rules: editRules,
  output: Generation,
  example: { image_url: "https://example.com/desk.png", prompt: "make it night" },
  deprecated: editDeprecated,

  translateDeprecated: translateReferenceUrl,
  parent: (input) => input.run_id,
  plan: (input) => editPlan("nanobanana", input),
  renderResponse: asGeneration,
});
