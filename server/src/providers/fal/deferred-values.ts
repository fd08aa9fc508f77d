// Values of a request that are known only when it is sent: URLs of images and LoRAs, and settings. Bodies contain them
// as deferred values and stay pure functions of the job.

import type { JsonObject } from "../../contract/schemas/run.ts";
import { convertedMask } from "../offer-row.ts";
import type { Asset, PlacedFile } from "../provider.ts";
import type { FalEnv } from "./settings.ts";

/** What deferred values are resolved with. */
export type DeferredContext = {
  env: FalEnv;
  place(image: PlacedFile): Promise<string>;
  lora(name: string): string;
};
type DeferredValue = (context: DeferredContext) => unknown;

export const deferredImage =
  (asset: PlacedFile | undefined): DeferredValue =>
  ({ place }) =>
    asset && place(asset);
export const deferredImages = (assets: readonly PlacedFile[] = []): DeferredValue[] => assets.map(deferredImage);

export const deferredInvertedMask = (mask: Asset | undefined): DeferredValue =>
  deferredImage(mask && convertedMask(mask, "inverted"));

export const lora =
  (name: unknown): DeferredValue =>
  (context) =>
    context.lora(String(name));
export const setting =
  (name: keyof FalEnv): DeferredValue =>
  ({ env }) =>
    env[name];

/** Resolves all deferred values of a body. */
export async function resolveDeferred(body: JsonObject, context: DeferredContext): Promise<JsonObject> {
  const entries = Object.entries(body).map(async ([name, value]) => [name, await settled(value, context)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function settled(value: unknown, context: DeferredContext): Promise<unknown> {
  if (typeof value === "function") return (value as DeferredValue)(context);
  if (Array.isArray(value)) return Promise.all(value.map((each) => settled(each, context)));
  return value !== null && typeof value === "object" ? resolveDeferred(value as JsonObject, context) : value;
}
