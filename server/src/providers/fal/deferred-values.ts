// Parts of a request that are known only when it is sent: a picture's address, a LoRA's, a setting. A mapping writes
// them down as `late` values and stays a plain function of the job.
import type { JsonObject } from "../../kit/schemas/run.ts";
import { invertMask, whiteTransparentMask } from "../mask-formats.ts";
import type { Asset } from "../provider.ts";
import type { FalEnv } from "./settings.ts";

/** A picture that can be sent. One that is ours as it stands has an address too. */
export type SendableImage = { media_type: string; bytes(): Promise<Uint8Array>; url?(): Promise<string> };

/** What late values are made with. */
export type DeferredContext = {
  env: FalEnv;
  place(picture: SendableImage): Promise<string>;
  lora(name: string): string;
};
type DeferredValue = (hands: DeferredContext) => unknown;

const PNG = "image/png";

export const deferredImage =
  (asset: SendableImage | undefined): DeferredValue =>
  ({ place }) =>
    asset && place(asset);
export const deferredImages = (assets: readonly SendableImage[] = []): DeferredValue[] => assets.map(deferredImage);

export const deferredInvertedMask = (mask: Asset | undefined): DeferredValue =>
  deferredImage(mask && { media_type: PNG, bytes: async () => invertMask(await mask.bytes()) });

export const deferredTransparentMask = (mask: Asset | undefined): DeferredValue =>
  deferredImage(mask && { media_type: PNG, bytes: async () => whiteTransparentMask(await mask.bytes()) });

export const lora =
  (name: unknown): DeferredValue =>
  (hands) =>
    hands.lora(String(name));
export const setting =
  (name: keyof FalEnv): DeferredValue =>
  ({ env }) =>
    env[name];

/** The request as it is sent. */
export async function resolveDeferred(body: JsonObject, hands: DeferredContext): Promise<JsonObject> {
  const entries = Object.entries(body).map(async ([name, value]) => [name, await settled(value, hands)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function settled(value: unknown, hands: DeferredContext): Promise<unknown> {
  if (typeof value === "function") return (value as DeferredValue)(hands);
  if (Array.isArray(value)) return Promise.all(value.map((each) => settled(each, hands)));
  return value !== null && typeof value === "object" ? resolveDeferred(value as JsonObject, hands) : value;
}
