// Parts of a request that are known only when it is sent: a picture's address, a LoRA's, a setting. A mapping writes them
// down as `late` values and stays a plain function of the job.
import type { Json } from "../../kit/shapes.ts";
import { invertMask, whiteAndClearMask } from "../mask.ts";
import type { Asset } from "../provider.ts";
import type { FalEnv } from "./settings.ts";

/** A picture that can be sent. One that is ours as it stands has an address too. */
export type Picture = { media_type: string; bytes(): Promise<Uint8Array>; url?(): Promise<string> };

/** What late values are made with. */
export type Hands = { env: FalEnv; place(picture: Picture): Promise<string>; lora(name: string): string };
type Late = (hands: Hands) => unknown;

const PNG = "image/png";

export const picture =
  (asset: Picture | undefined): Late =>
  ({ place }) =>
    asset && place(asset);
export const pictures = (assets: readonly Picture[] = []): Late[] => assets.map(picture);

export const blackMask = (mask: Asset | undefined): Late =>
  picture(mask && { media_type: PNG, bytes: async () => invertMask(await mask.bytes()) });

export const clearMask = (mask: Asset | undefined): Late =>
  picture(mask && { media_type: PNG, bytes: async () => whiteAndClearMask(await mask.bytes()) });

export const lora =
  (name: unknown): Late =>
  (hands) =>
    hands.lora(String(name));
export const setting =
  (name: keyof FalEnv): Late =>
  ({ env }) =>
    env[name];

/** The request as it is sent. */
export async function settle(body: Json, hands: Hands): Promise<Json> {
  const entries = Object.entries(body).map(async ([name, value]) => [name, await settled(value, hands)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function settled(value: unknown, hands: Hands): Promise<unknown> {
  if (typeof value === "function") return (value as Late)(hands);
  if (Array.isArray(value)) return Promise.all(value.map((each) => settled(each, hands)));
  return value !== null && typeof value === "object" ? settle(value as Json, hands) : value;
}
