// Values of a request that are known only when it is sent: URLs of images and LoRAs, and settings. Bodies contain them
// as deferred values and stay pure functions of the job.

import type { JsonObject } from "../../contract/schemas/run.ts";
import type { PixelTask } from "../../files/images/pixel-tasks.ts";
import type { Asset } from "../provider.ts";
import type { FalEnv } from "./settings.ts";

/** An image to send. A stored image also has a URL. With `pixelTask`, the bytes are converted before they are sent. */
export type SendableImage = {
  media_type: string;
  bytes(): Promise<Uint8Array>;
  url?(): Promise<string>;
  pixelTask?: PixelTask;
};

/** What deferred values are resolved with. */
export type DeferredContext = {
  env: FalEnv;
  place(image: SendableImage): Promise<string>;
  lora(name: string): string;
};
type DeferredValue = (context: DeferredContext) => unknown;

const PNG = "image/png";

export const deferredImage =
  (asset: SendableImage | undefined): DeferredValue =>
  ({ place }) =>
    asset && place(asset);
export const deferredImages = (assets: readonly SendableImage[] = []): DeferredValue[] => assets.map(deferredImage);

export const deferredInvertedMask = (mask: Asset | undefined): DeferredValue =>
  deferredImage(mask && { media_type: PNG, bytes: mask.bytes, pixelTask: { name: "invert-mask" } });

export const deferredTransparentMask = (mask: Asset | undefined): DeferredValue =>
  deferredImage(mask && { media_type: PNG, bytes: mask.bytes, pixelTask: { name: "white-transparent-mask" } });

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
