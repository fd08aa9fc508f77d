// Resolves the model names of OpenAI clients: Gesso's own names, or the names of enabled offers at their providers.

import { DEFAULT_MODELS, models } from "../../contract/models.ts";
import { Fault } from "../../faults/faults.ts";
import { supportOf } from "../../providers/parameter-support.ts";
import type { EnabledProvider } from "../../providers/provider.ts";
import { findOffers, idOf, listOffers, type ResolvedOffer } from "../../providers/resolve-model.ts";

export type ModelTask = "image.generate" | "image.edit";

/** Fields that a request of an OpenAI client can set. Models that require others cannot be used. */
const SETTABLE_FIELDS = ["width", "height", "aspect_ratio"];
/** Needs several source images, which a generation does not have. */
const MODELS_FOR_SOURCES = ["flux-kontext-multi"];

const UNUSABLE_NAMES: Record<ModelTask, readonly string[]> = {
  "image.generate": [
    ...models.filter(({ requires = [] }) => requires.some((field) => !SETTABLE_FIELDS.includes(field))),
    ...models.filter(({ id }) => MODELS_FOR_SOURCES.includes(id)),
  ].map(({ id }) => id),
  "image.edit": [],
};
const TASKS = Object.keys(UNUSABLE_NAMES) as ModelTask[];

/** Names that programs for OpenAI send by default. They mean the first of these models that is enabled. */
const OPENAI_DEFAULTS = ["gpt-image-1", "gpt-image-1.5", "gpt-image-2", "dall-e-3"];
const NEAREST_MODELS = ["vendora", "gemini-2.5", "nanobanana", "vendorb-imagen4", "flux-kontext-max"];

/** `warning`: another model than the named one does the work. */
export type ResolvedModel = { model: string; warning?: string };

export type ModelNames = {
  /** Own names of all models that can be used, each once. */
  list(): string[];
  /** Whether the name, own or of a provider, can be used for any task. */
  has(name: string): boolean;
  /** Whether the model takes a size for images from text, an aspect ratio instead, or neither. */
  shapeOf(model: string): "size" | "aspect_ratio" | undefined;
  /** Throws if the name is unknown, or known for other tasks only. */
  resolve(name: string, task: ModelTask): ResolvedModel;
};

export function createModelNames(enabled: readonly EnabledProvider[]): ModelNames {
  const isUsable = ({ offer: { task, model, lifecycle } }: ResolvedOffer) =>
    lifecycle?.state !== "retired" && TASKS.some((each) => each === task && !UNUSABLE_NAMES[each].includes(model));
  const offers = listOffers(enabled).filter(isUsable);
  const find = (name: string, task: ModelTask) => {
    if (findOffers(enabled, { task, model: name }).some(isUsable)) return name;
    return offers.find(({ offer }) => offer.task === task && offer.upstreamModel === name)?.offer.model;
  };
  const namesFor = (task: ModelTask) => {
    const ofTask = offers.filter(({ offer }) => offer.task === task);
    const own = new Set(ofTask.map(({ offer }) => offer.model));
    const known = [...models.map(({ id }) => id), ...Object.values(DEFAULT_MODELS)].filter((id) => own.delete(id));
    return [...new Set([...known, ...own, ...ofTask.flatMap((each) => idOf(each) ?? [])])];
  };
  const findSubstitute = (name: string, task: ModelTask) => {
    if (!OPENAI_DEFAULTS.includes(name)) return undefined;
    const names = namesFor(task);
    return NEAREST_MODELS.find((model) => names.includes(model)) ?? names[0];
  };
  return {
    list: () => [...new Set(TASKS.flatMap(namesFor))],
    has: (name) => TASKS.some((task) => find(name, task) !== undefined || findSubstitute(name, task) !== undefined),
    shapeOf(model) {
      const preferred = findOffers(enabled, { task: "image.generate", model }).find(isUsable);
      if (!preferred) return "size";
      const takes = (name: string) => supportOf(preferred.offer, name).state !== "unsupported";
      if (takes("width") && supportOf(preferred.offer, "width").as === undefined) return "size";
      return takes("aspect_ratio") ? "aspect_ratio" : undefined;
    },
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
