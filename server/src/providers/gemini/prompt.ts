// Builds the prompt for Gemini, which has no fields for masks, references and negative prompts.
import type { Job } from "../../contract/operation.ts";

type PromptParts = Pick<
  Job<unknown>,
  "task" | "model" | "prompt" | "negative_prompt" | "images" | "mask" | "mask_over" | "options"
>;

export function promptFor(job: PromptParts): string {
  const { task, model, negative_prompt, images = [], mask, mask_over = 0 } = job;
  const isStyle = task === "image.generate" && model === "vendorb-imagen4" && images.length > 0;
  return [
    task === "image.reference" ? withoutTags(job) : (job.prompt ?? ""),
    ...(isStyle ? ["Make it in the style of the reference image."] : []),
    ...(negative_prompt ? [`The picture must not show: ${negative_prompt}.`] : []),
    ...(mask ? [maskInstruction(images.length + 1, mask_over + 1)] : []),
  ].join("\n\n");
}

const maskInstruction = (mask: number, over: number) =>
  [
    `Image ${mask} is a mask for image ${over}: white marks what is to change, black marks what must stay as it is.`,
    `Answer with the whole of image ${over}, in its own shape, changed nowhere but where the mask is white.`,
  ].join(" ");

/** Replaces `@hero` by `image 1 (hero)`. Unknown tags stay unchanged. */
function withoutTags({ prompt = "", options = {} }: PromptParts): string {
  const tags = Array.isArray(options.tags) ? options.tags : [];
  return prompt.replace(/@([A-Za-z][A-Za-z0-9_]*)/g, (match, tag) =>
    tags.includes(tag) ? `image ${tags.indexOf(tag) + 1} (${tag})` : match,
  );
}
