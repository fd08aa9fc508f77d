// The registry of providers. To add a provider, write its file and add a line here.
export { bfl } from "./bfl.ts";
export { comfyui } from "./comfyui.ts";
export { fal } from "./fal.ts";
export { gemini } from "./gemini.ts";
export { ideogram } from "./ideogram.ts";
export { localModels } from "./local/models.ts";
export { local } from "./local.ts";
export { luma } from "./luma.ts";
export { openai } from "./openai.ts";
export { replicate } from "./replicate.ts";
export { runway } from "./runway.ts";
export { sandbox } from "./sandbox.ts";
