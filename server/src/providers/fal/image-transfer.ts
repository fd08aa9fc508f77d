// Sends images and other files to fal: small images inline, others by our URL if fal can reach it, and otherwise
// through fal's storage. Credentials are never sent to a URL from a response.
import { z } from "zod";
import { extensionOf } from "../../files/formats/detect-media-type.ts";
import { callProvider, modelUnavailable, providerFault, readProviderFailure } from "../call-provider.ts";
import { convertImage } from "../convert-image.ts";
import type { PlacedFile, ProviderContext } from "../provider.ts";
import type { DeferredContext } from "./deferred-values.ts";
import { authorizationHeader, baseOrigins, type FalEnv, UPLOAD_RETENTION_HEADERS } from "./settings.ts";

/** Maximum total size of inline images in a request, before base64. */
const INLINE_BYTES = 2 * 1024 * 1024;

const Upload = z.object({ upload_url: z.url(), file_url: z.url() });

const OWN_DOMAINS = ["fal.media", "fal.ai", "fal.run"];

/** `count` is the number of images in the request. */
export const createDeferredContext = (context: ProviderContext<FalEnv>, count: number): DeferredContext => ({
  env: context.env,
  place: (image) => toImageUrl(image, context, INLINE_BYTES / Math.max(1, count)),
  lora: (name) => {
    const folder = context.env.FAL_LORA_BASE_URL;
    if (!folder) throw modelUnavailable(new Error("FAL_LORA_BASE_URL is not set, so fal cannot find a LoRA"));
    return `${folder}/${encodeURIComponent(name.replace(/\.safetensors$/, ""))}.safetensors`;
  },
});

async function toImageUrl(image: PlacedFile, context: ProviderContext<FalEnv>, inlineBytes: number): Promise<string> {
  // A video can be too large for the memory.
  if (image.url && context.isPublicUrlReachable && !image.media_type.startsWith("image/")) return image.url();
  const stored = await image.bytes();
  const bytes = image.pixelTask ? await convertImage(context, image.pixelTask, stored) : stored;
  if (bytes.byteLength <= inlineBytes) {
    return `data:${image.media_type};base64,${Buffer.from(bytes).toString("base64")}`;
  }
  return context.isPublicUrlReachable && image.url ? image.url() : upload(bytes, image.media_type, context);
}

async function upload(bytes: Uint8Array, mediaType: string, context: ProviderContext<FalEnv>): Promise<string> {
  const { env } = context;
  const { upload_url, file_url } = await callProvider(context, {
    origin: env.FAL_REST_URL,
    url: `${env.FAL_REST_URL}/storage/upload/initiate?storage_type=fal-cdn-v3`,
    headers: { ...authorizationHeader(env), ...UPLOAD_RETENTION_HEADERS },
    body: { content_type: mediaType, file_name: `file.${extensionOf(mediaType)}` },
    hasNoSideEffects: true,
    reply: Upload,
  });
  await callProvider(context, {
    method: "PUT",
    origin: requireTrustedUrl(upload_url, env),
    url: upload_url,
    headers: { "content-type": mediaType },
    body: bytes,
    hasNoSideEffects: true,
    reply: z.unknown(),
  }).catch((thrown) => {
    // The upload response need not be JSON; its status is enough.
    const { status = 0 } = readProviderFailure(thrown);
    if (status < 200 || status >= 300) throw thrown;
  });
  return file_url;
}

/** The upload URL is pre-signed. It is used only if it is on a host of fal. */
function requireTrustedUrl(url: string, env: FalEnv): string {
  const { origin, protocol, hostname } = new URL(url);
  const isOwn = OWN_DOMAINS.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`));
  if (baseOrigins(env).includes(origin) || (isOwn && protocol === "https:")) return origin;
  throw providerFault("provider_error", { kind: "unsent", cause: `fal requested an upload to ${origin}` });
}
