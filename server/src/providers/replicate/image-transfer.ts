// Sends images and other files to Replicate: inline if they are small, otherwise by URL.
import { z } from "zod";
import type { JsonObject } from "../../contract/schemas/run.ts";
import { callProvider } from "../call-provider.ts";
import { convertImage } from "../convert-image.ts";
import type { PlacedFile } from "../provider.ts";
import { type ReplicateContext, replicateApi, replicateUrl } from "./api.ts";

const File = z.object({ urls: z.object({ get: z.url() }) });

/** Maximum total size of inline images; callbacks repeat the whole input. */
const INLINE_BYTES = 256 * 1024;

const isImage = (value: unknown): value is PlacedFile =>
  typeof value === "object" && value !== null && typeof (value as PlacedFile).bytes === "function";

/** The input with a URL or data URL in place of every image. */
export async function embedImages(input: JsonObject, context: ReplicateContext): Promise<JsonObject> {
  const inlineBytes = INLINE_BYTES / Math.max(1, countImages(input));
  const embed = async (value: unknown): Promise<unknown> => {
    if (isImage(value)) return embedImage(value, inlineBytes, context);
    if (Array.isArray(value)) return Promise.all(value.map(embed));
    return value !== null && typeof value === "object" ? embedIn(value as JsonObject) : value;
  };
  const embedIn = async (object: JsonObject): Promise<JsonObject> =>
    Object.fromEntries(
      await Promise.all(Object.entries(object).map(async ([name, value]) => [name, await embed(value)] as const)),
    );
  return embedIn(input);
}

const countImages = (value: unknown): number =>
  isImage(value)
    ? 1
    : value !== null && typeof value === "object"
      ? Object.values(value).reduce<number>((sum, each) => sum + countImages(each), 0)
      : 0;

async function embedImage(image: PlacedFile, inlineBytes: number, context: ReplicateContext): Promise<string> {
  // A video can be too large for the memory.
  if (image.url && context.isPublicUrlReachable && !image.media_type.startsWith("image/")) return image.url();
  const stored = await image.bytes();
  const bytes = image.pixelTask ? await convertImage(context, image.pixelTask, stored) : stored;
  if (bytes.length <= inlineBytes) {
    return `data:${image.media_type};base64,${Buffer.from(bytes).toString("base64")}`;
  }
  return context.isPublicUrlReachable && image.url ? image.url() : upload(image.media_type, bytes, context);
}

async function upload(mediaType: string, bytes: Uint8Array, context: ReplicateContext): Promise<string> {
  const form = new FormData();
  form.append("content", new Blob([new Uint8Array(bytes)], { type: mediaType }), "image");
  const url = replicateUrl(context, "/files");
  const { urls } = await callProvider(context, {
    ...replicateApi(context.env),
    url,
    body: form,
    reply: File,
    hasNoSideEffects: true,
  });
  return urls.get;
}
