// How a picture reaches fal: inside of the request while it is small, by our own address where fal can reach us, and
// else through fal's storage. No credential ever goes where an answer pointed to.
import { z } from "zod";
import { callProvider, modelUnavailable, providerFault, readProviderFailure } from "../call-provider.ts";
import type { ProviderContext } from "../provider.ts";
import type { DeferredContext, SendableImage } from "./deferred-values.ts";
import { authorizationHeader, baseOrigins, type FalEnv } from "./settings.ts";

/** What all pictures of one request may weigh inside of it, before they are spelled in base64. */
const INLINE_BYTES = 2 * 1024 * 1024;

const Upload = z.object({ upload_url: z.url(), file_url: z.url() });

const OWN_DOMAINS = ["fal.media", "fal.ai", "fal.run"];

/** `count` is how many pictures share the request. */
export const createDeferredContext = (context: ProviderContext<FalEnv>, count: number): DeferredContext => ({
  env: context.env,
  place: (picture) => toImageUrl(picture, context, INLINE_BYTES / Math.max(1, count)),
  lora: (name) => {
    const folder = context.env.FAL_LORA_BASE_URL;
    if (!folder) throw modelUnavailable("FAL_LORA_BASE_URL is not set, so fal cannot find a LoRA");
    return `${folder}/${encodeURIComponent(name.replace(/\.safetensors$/, ""))}.safetensors`;
  },
});

async function toImageUrl(
  picture: SendableImage,
  context: ProviderContext<FalEnv>,
  inlineBytes: number,
): Promise<string> {
  const bytes = await picture.bytes();
  if (bytes.byteLength <= inlineBytes) {
    return `data:${picture.media_type};base64,${Buffer.from(bytes).toString("base64")}`;
  }
  return context.isPublicUrlReachable && picture.url ? picture.url() : upload(bytes, picture.media_type, context);
}

async function upload(bytes: Uint8Array, mediaType: string, context: ProviderContext<FalEnv>): Promise<string> {
  const { env } = context;
  const { upload_url, file_url } = await callProvider(context, {
    origin: env.FAL_REST_URL,
    url: `${env.FAL_REST_URL}/storage/upload/initiate?storage_type=fal-cdn-v3`,
    headers: authorizationHeader(env),
    body: { content_type: mediaType, file_name: `picture.${mediaType.replace(/^.*\//, "")}` },
    hasNoSideEffects: true,
    reply: Upload,
  });
  await callProvider(context, {
    method: "PUT",
    origin: trusted(upload_url, env),
    url: upload_url,
    headers: { "content-type": mediaType },
    body: bytes,
    hasNoSideEffects: true,
    reply: z.unknown(),
  }).catch((thrown) => {
    // A file server need not answer in JSON; that it took the file is enough.
    const { status = 0 } = readProviderFailure(thrown);
    if (status < 200 || status >= 300) throw thrown;
  });
  return file_url;
}

/** The address to upload to carries its own permission, and is used only where it is one of fal's. */
function trusted(url: string, env: FalEnv): string {
  const { origin, protocol, hostname } = new URL(url);
  const isOwn = OWN_DOMAINS.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`));
  if (baseOrigins(env).includes(origin) || (isOwn && protocol === "https:")) return origin;
  throw providerFault("provider_error", { kind: "unsent", cause: `fal wants a picture to be sent to ${origin}` });
}
