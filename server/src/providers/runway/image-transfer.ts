// Sends images to Runway: inline if they are small, otherwise by an upload that lasts a day. Uploads go to a
// third-party storage, so they never carry our key.
import { z } from "zod";
import { callProvider, providerFault, readProviderFailure } from "../call-provider.ts";
import type { Asset } from "../provider.ts";
import { type RunwayContext, runwayApi, runwayUrl } from "./api.ts";

const Slot = z.object({ uploadUrl: z.url(), fields: z.record(z.string(), z.string()), runwayUri: z.string() });

/** Runway accepts 5 MB after encoding; this leaves space for the other fields. */
const INLINE_BYTES = 3_300_000;

export async function uploadOrInlineImage({ media_type, bytes: read }: Asset, context: RunwayContext): Promise<string> {
  const bytes = await read();
  if (bytes.length <= INLINE_BYTES) return `data:${media_type};base64,${Buffer.from(bytes).toString("base64")}`;
  const { uploadUrl, fields, runwayUri } = await callProvider(context, {
    ...runwayApi(context.env),
    url: runwayUrl(context, "/v1/uploads"),
    body: { filename: `image.${media_type.split("/")[1]}`, type: "ephemeral" },
    reply: Slot,
    hasNoSideEffects: true,
  });
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  // The storage ignores fields after the file, so the file comes last.
  form.append("file", new Blob([new Uint8Array(bytes)], { type: media_type }), "image");
  await uploadForm(uploadUrl, form, context);
  return runwayUri;
}

/** The upload URL comes from a response, so its host is checked. It receives none of our headers. */
async function uploadForm(url: string, body: FormData, context: RunwayContext): Promise<void> {
  const { origin, protocol, hostname } = new URL(url);
  const isOwn = origin === new URL(context.env.RUNWAY_BASE_URL).origin;
  if (!isOwn && !(protocol === "https:" && hostname.endsWith(".amazonaws.com"))) {
    throw providerFault("provider_error", { kind: "unsent", cause: `an upload was sent to ${origin}` });
  }
  const classify = (status: number, cause: string) =>
    providerFault("provider_error", { kind: "unsent", status, cause });
  try {
    await callProvider(context, { origin, url, body, reply: z.unknown(), hasNoSideEffects: true, classify });
  } catch (thrown) {
    // The response can be XML; its status is enough.
    const { status = 0 } = readProviderFailure(thrown);
    if (status < 200 || status >= 300) throw thrown;
  }
}
