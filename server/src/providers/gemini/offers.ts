// The offers of the Gemini API. The models that our model names refer to are retired; their successor serves all of
// them.
import type { Task } from "../../kit/operation.ts";
import type { Offer } from "../provider.ts";

const RATIOS = [
  ...["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"],
  ...["1:4", "4:1", "1:8", "8:1"],
];

const imageOffer = (task: Task, model: string, more: Partial<Offer> = {}): Offer => ({
  task,
  model,
  upstreamModel: "gemini-nano-banana-2.1",
  recovery: "none",
  price: 0.0336,
  latency: "usual",
  synchronousSeconds: 180,
  preference: 40,
  // The model takes 14 images, including the mask.
  limits: { ratios: RATIOS, count: 1, images: 13, mask: true },
  supportedOptions: [],
  equivalence: "nano-banana",
  ...more,
});
const textOffer = (task: Task, equivalence: string, supportedOptions: string[]): Offer => ({
  task,
  model: `${equivalence}-default`,
  upstreamModel: "gemini-3.8-flash",
  recovery: "none",
  price: null,
  per: "call",
  latency: "quick",
  synchronousSeconds: 120,
  preference: 40,
  supportedOptions,
  equivalence,
});

/** The model has no tags, so the prompt is rewritten. The result can differ, so there is no failover group. */
const { equivalence: _, ...byTags } = imageOffer("image.reference", "reference-default", {
  preference: 60,
  supportedOptions: ["tags", "resolution"],
});

export const geminiOffers: Offer[] = [
  imageOffer("image.generate", "nanobanana"),
  imageOffer("image.generate", "gemini-2.5"),
  imageOffer("image.generate", "vendorb-imagen4"),
  imageOffer("image.edit", "nanobanana"),
  imageOffer("image.edit", "gemini-2.5"),
  byTags,
  textOffer("image.describe", "describe", ["detail", "language"]),
  textOffer("prompt.enhance", "enhance", ["model_type", "style", "language"]),
];
