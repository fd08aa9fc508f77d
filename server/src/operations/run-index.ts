// The registry of operations that create runs. To add one, write its file and add a line here. All of it is pure: the
// life of a run depends on it, also in workers.
export { backgroundRemove } from "./images/background-remove.ts";
export { generateCharacter } from "./images/character.ts";
export { combineImages } from "./images/combine.ts";
export { combineGemini25 } from "./images/combine-gemini25.ts";
export { combineNanobanana } from "./images/combine-nanobanana.ts";
export { describeImage } from "./images/describe.ts";
export { editImage } from "./images/edit.ts";
export { editFluxKontext } from "./images/edit-flux-kontext.ts";
export { editGemini25 } from "./images/edit-gemini25.ts";
export { editNanobanana } from "./images/edit-nanobanana.ts";
export { editVendora } from "./images/edit-vendora.ts";
export { extractObjects } from "./images/extract.ts";
export { generateImage } from "./images/generate.ts";
export { generativeRemove } from "./images/generative-remove.ts";
export { maskImage } from "./images/mask-image.ts";
export { generateFromReferences } from "./images/reference.ts";
export { reframeImage } from "./images/reframe.ts";
export { removeBackground } from "./images/remove-background.ts";
export { segmentImage } from "./images/segment.ts";
export { upscaleImage } from "./images/upscale.ts";
export { varyImage } from "./images/vary.ts";
export { enhancePrompt } from "./prompts/enhance.ts";
export { createRun } from "./runs/create.ts";
export { rerun } from "./runs/rerun.ts";
export { generateVideo } from "./videos/generate.ts";
export { createVideo } from "./videos/generate-with-any-model.ts";
