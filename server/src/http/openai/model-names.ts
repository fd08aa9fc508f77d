// Resolves the model names of OpenAI clients: Gesso's own names, or the names of enabled offers at their providers.

import { models } from "../../contract/models.ts";
import { Fault } from "../../faults/faults.ts";
import { EDIT_MODELS } from "../../operations/openai/edit.ts";
import { type EnabledProvider, type Offer, offerPreference } from "../../providers/provider.ts";

export type ModelTask = "image.generate" | "image.edit";

/** Fields that a request of an OpenAI client can set. Models that require others cannot be used. */
const SETTABLE_FIELDS = ["width", "height", "aspect_ratio"];
/** Needs several source images, which a generation does not have. */
const MODELS_FOR_SOURCES = ["flux-kontext-multi"];

const USABLE_MODELS: Record<ModelTask, readonly string[]> = {
  "image.generate": models
    .filter(({ requires = [] }) => requires.every((field) => SETTABLE_FIELDS.includes(field)))
    .map(({ id }) => id)
    .filter((id) => !MODELS_FOR_SOURCES.includes(id)),
  "image.edit": EDIT_MODELS,
};
const TASKS = Object.keys(USABLE_MODELS) as ModelTask[];

/** Names that programs for OpenAI send by default. They mean the first of these models that is enabled. */
const OPENAI_DEFAULTS = ["gpt-image-1", "gpt-image-1.5", "gpt-image-2", "dall-e-3"];
const NEAREST_MODELS = ["vendora", "gemini-2.5", "nanobanana", "vendorb-imagen4", "flux-kontext-max"];

type UsableOffer = Pick<Offer, "task" | "model" | "upstreamModel">;

/** `warning`: another model than the named one does the work. */
export type ResolvedModel = { model: string; warning?: string };

export type ModelNames = {
  /** Own names of all models that can be used, each once. */
  list(): string[];
  /** Whether the name, own or of a provider, can be used for any task. */
  has(name: string): boolean;
  /** Throws if the name is unknown, or known for other tasks only. */
  resolve(name: string, task: ModelTask): ResolvedModel;
};

/** Offers that the operator prefers come first, so that a name that several models share has one meaning. */
export function createModelNames(enabled: readonly EnabledProvider[]): ModelNames {
  const offers: UsableOffer[] = enabled
    .flatMap(({ provider }) =>
      provider.offers.map((offer) => ({ offer, preference: offerPreference(provider, offer) })),
    )
    .filter(({ offer }) => offer.lifecycle?.state !== "retired" && isUsable(offer))
    .sort((a, b) => a.preference - b.preference)
    .map(({ offer }) => offer);
  const find = (name: string, task: ModelTask) => {
    const ofTask = offers.filter((offer) => offer.task === task);
    return (ofTask.find(({ model }) => model === name) ?? ofTask.find(({ upstreamModel }) => upstreamModel === name))
      ?.model;
  };
  const findSubstitute = (name: string, task: ModelTask) => {
    if (!OPENAI_DEFAULTS.includes(name)) return undefined;
    const enabled = namesFor(task);
    return NEAREST_MODELS.find((model) => enabled.includes(model)) ?? enabled[0];
  };
  const namesFor = (task: ModelTask) =>
    USABLE_MODELS[task].filter((id) => offers.some((offer) => offer.task === task && offer.model === id));
  return {
    list: () => [...new Set(TASKS.flatMap(namesFor))],
    has: (name) => TASKS.some((task) => find(name, task) !== undefined || findSubstitute(name, task) !== undefined),
    resolve(name, task) {
      const found = find(name, task);
      if (found !== undefined) return { model: found };
      const substitute = findSubstitute(name, task);
      if (substitute !== undefined)
        return { model: substitute, warning: `${name} is not enabled here: ${substitute} made the image.` };
      if (!TASKS.some((other) => find(name, other) !== undefined)) throw new Fault("model_not_found", { model: name });
      const verb = task === "image.edit" ? "edit images" : "generate images from text";
      const message = `${name} cannot ${verb}. Models that can: ${namesFor(task).join(", ")}.`;
      throw new Fault("validation_error", { errors: [{ path: "/model", code: "unknown_value", message }] });
    },
  };
}

const isUsable = ({ task, model }: Offer) => TASKS.some((each) => each === task && USABLE_MODELS[each].includes(model));
