// Resolves the model names of OpenAI clients: Gesso's own names, or the names of enabled offers at their providers.
import { Fault } from "../../faults.ts";
import { models } from "../../models.ts";
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

type UsableOffer = Pick<Offer, "task" | "model" | "upstreamModel">;

export type ModelNames = {
  /** Own names of all models that can be used, each once. */
  list(): string[];
  /** Whether the name, own or of a provider, can be used for any task. */
  has(name: string): boolean;
  /** Throws if the name is unknown, or known for other tasks only. */
  resolve(name: string, task: ModelTask): string;
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
  const namesFor = (task: ModelTask) =>
    USABLE_MODELS[task].filter((id) => offers.some((offer) => offer.task === task && offer.model === id));
  return {
    list: () => [...new Set(TASKS.flatMap(namesFor))],
    has: (name) => TASKS.some((task) => find(name, task) !== undefined),
    resolve(name, task) {
      const found = find(name, task);
      if (found !== undefined) return found;
      if (!TASKS.some((other) => find(name, other) !== undefined)) throw new Fault("model_not_found", { model: name });
      const verb = task === "image.edit" ? "edit images" : "generate images from text";
      const message = `${name} cannot ${verb}. Models that can: ${namesFor(task).join(", ")}.`;
      throw new Fault("validation_error", { errors: [{ path: "/model", code: "unknown_value", message }] });
    },
  };
}

const isUsable = ({ task, model }: Offer) => TASKS.some((each) => each === task && USABLE_MODELS[each].includes(model));
