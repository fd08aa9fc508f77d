import { z } from "zod";
import { defineRun } from "../../contract/operation.ts";
import { asGeneration, Generation } from "../../contract/schemas/run.ts";
import { combineFields, combinePlan, combineRules } from "./model-combine.ts";

export const combineNanobanana = defineRun({
  name: "images.combine.nanobanana",
  summary: "Combine several images by prompt with nanobanana",
  http: { method: "POST", path: "/combine/nanobanana", bodies: ["json", "form"] },
  run_type: "combine",

  input: z.object(combineFields),
  rules: combineRules,
  output: Generation,
  example: {
    prompt: "put the lamp on the desk",
    image_urls: ["https://example.com/lamp.png", "https://example.com/desk.png"],
  },

  plan: (input) => combinePlan("nanobanana", input),
  renderResponse: asGeneration,
});
