// The offer of a model that only its own schema describes. Its provider takes any model by the path of its name, so the
// offer is made when a job asks for it.
import type { Job } from "../contract/operation.ts";
import { replaceAt } from "../contract/pinned-model.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import { HONOURED } from "./parameter-support.ts";
import type { Asset, EnabledProvider, Offer } from "./provider.ts";

type ModelJob = Pick<Job<unknown>, "task" | "model" | "model_run">;

/** Undefined if the provider of the model is not enabled, or cannot run any model. */
export function makeModelOffer(enabled: readonly EnabledProvider[], { task, model, model_run }: ModelJob) {
  const at = model.indexOf(":");
  const [id, upstreamModel] = [model.slice(0, at), model.slice(at + 1)];
  const enabledProvider = enabled.find(({ provider }) => provider.id === id);
  const { anyModel } = enabledProvider?.provider ?? {};
  if (!enabledProvider || !anyModel || task !== "model.run") return undefined;
  const usd = model_run?.call_price ?? (anyModel.isFree ? 0 : null);
  const offer: Offer = {
    ...{ task, model, upstreamModel, recovery: anyModel.recovery(upstreamModel), latency: "slow" },
    price: usd === null ? null : { rows: [{ of: "call", usd }], confidence: "operator", version: "operator" },
    parameters: { images: HONOURED },
  };
  return { enabledProvider, offer };
}

/** The input in the terms of the model, with the files of the job in their places. */
export const placeFiles = ({ model_run, images = [] }: Job<Asset>, place: (file: Asset) => unknown): JsonObject =>
  images.reduce<JsonObject>(
    (input, file, index) => replaceAt(input, model_run!.files[index]!, place(file)),
    model_run?.input ?? {},
  );
