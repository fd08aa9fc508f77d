import { z } from "zod";
import { defineRun } from "../../contract/operation.ts";
import { asGeneration, Generation } from "../../contract/schemas/run.ts";
import { combineFields, combinePlan, combineRules } from "./model-combine.ts";

export const combineGemini25 = defineRun({
  name: "images.combine.gemini25",
  summary: "Combine several images by prompt with gemini-2.5",
  http: { method: "POST", path: "/combine/gemini-2.5", bodies: ["json", "form"] },
  run_type: "combine",

  input: z.object(combineFields),
  rules: combineRules,
  output: Generation,
  example: {
    prompt: "put the lamp on the desk",
    image_urls: ["https://example.com/lamp.png", "https://example.com/desk.png"],
  },

  plan: (input) => combinePlan("gemini-2.5", input),
  renderResponse: asGeneration,
});
