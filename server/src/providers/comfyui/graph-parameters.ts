// Derives the parameters that a built-in graph honours from its slots: a parameter without a slot is unsupported.
import { type ParameterName, TASK_PARAMETERS } from "../../contract/task-parameters.ts";
import { asSize, byGesso, EXCLUDED, HONOURED, onlyWith, UNSUPPORTED, unlessWith } from "../parameter-support.ts";
import type { Offer, OfferParameters, ParameterSupport } from "../provider.ts";
import { type ComfyuiGraph, readBuiltInGraph } from "./graph.ts";

/** Parameters with a slot of their own. */
const SLOTS: Partial<Record<ParameterName, string>> = {
  prompt: "prompt",
  width: "width",
  height: "height",
  seed: "seed",
  count: "count",
  steps: "steps",
  cfg_scale: "cfg",
  scheduler: "scheduler",
  upscale_factor: "upscale_factor",
  lora_low_name: "lora_low",
  lora_low_strength: "lora_low_strength",
  lora_high_name: "lora_high",
  lora_high_strength: "lora_high_strength",
  duration: "frames",
  fps: "fps",
};

/** With this scale, a sampler does not use the negative prompt. */
const NEUTRAL_CFG = 1;

export function graphParameters({ task, upstreamModel }: Pick<Offer, "task" | "upstreamModel">): OfferParameters {
  const { slots } = readBuiltInGraph(upstreamModel);
  return Object.fromEntries(
    TASK_PARAMETERS[task].map((name) => [name, supportBySlots(name, { task, upstreamModel }, slots)]),
  );
}

/** For graphs whose LoRA is optional: this offer gets only jobs without one. */
export const withoutLora = (parameters: OfferParameters): OfferParameters => ({
  ...parameters,
  model_id: EXCLUDED,
  strength_model: UNSUPPORTED,
  model_weight: UNSUPPORTED,
});

type GraphOffer = Pick<Offer, "task" | "upstreamModel">;

function supportBySlots(
  name: ParameterName,
  { task, upstreamModel }: GraphOffer,
  slots: ComfyuiGraph["slots"],
): ParameterSupport {
  const when = (slot: string, support: ParameterSupport = HONOURED) => (slots[slot] ? support : UNSUPPORTED);
  // This graph names its LoRA by `lora_1`, all others by the custom model.
  const isLoraNamed = upstreamModel === "qwen-image-edit";
  switch (name) {
    case "images":
      return slots.image ? HONOURED : EXCLUDED;
    case "aspect_ratio":
      return task === "image.generate" ? asSize : HONOURED;
    case "negative_prompt":
      return when(name, slots.cfg?.default === NEUTRAL_CFG ? onlyWith("cfg_scale") : HONOURED);
    case "guidance":
      // Graphs without a guidance of their own have classifier-free guidance only.
      return slots.guidance ? HONOURED : when("cfg", unlessWith("cfg_scale"));
    case "model_id":
      if (slots.lora_high)
        return byGesso("Gesso checks access and adds the trigger word; the LoRA names select the files");
      return isLoraNamed ? UNSUPPORTED : when("lora");
    case "lora_1":
      return isLoraNamed ? when("lora") : UNSUPPORTED;
    case "strength_model":
      return when("lora_strength", onlyWith(isLoraNamed ? "lora_1" : "model_id"));
    case "model_weight":
      return isLoraNamed ? UNSUPPORTED : when("lora_strength", unlessWith("strength_model", onlyWith("model_id")));
    default:
      return SLOTS[name] === undefined ? UNSUPPORTED : when(SLOTS[name]);
  }
}
