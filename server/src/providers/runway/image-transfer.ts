// Pictures on their way to Runway: within the request where they are small enough, else by an upload of a day's life.
// The upload goes to a storage that is not Runway's own, so our key never travels with it.
import { z } from "zod";
import { callProvider, providerFault, readProviderFailure } from "../call-provider.ts";
import type { Asset } from "../provider.ts";
import { type RunwayContext, runwayApi, runwayUrl } from "./api.ts";

const Slot = z.object({ uploadUrl: z.url(), fields: z.record(z.string(), z.string()), runwayUri: z.string() });

/** What it takes is 5 MB after encoding; this leaves room for the rest. */
const INLINE_BYTES = 3_300_000;

export async function uploadOrInlineImage({ media_type, bytes: read }: Asset, context: RunwayContext): Promise<string> {
  const bytes = await read();
  if (bytes.length <= INLINE_BYTES) return `data:${media_type};base64,${Buffer.from(bytes).toString("base64")}`;
  const { uploadUrl, fields, runwayUri } = await callProvider(context, {
    ...runwayApi(context.env),
    url: runwayUrl(context, "/v1/uploads"),
    body: { filename: `picture.${media_type.split("/")[1]}`, type: "ephemeral" },
    reply: Slot,
    hasNoSideEffects: true,
  });
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  // The storage reads nothing that comes after the file.
  form.append("file", new Blob([new Uint8Array(bytes)], { type: media_type }), "picture");
  await put(uploadUrl, form, context);
  return runwayUri;
}

/** The address came out of an answer, so it is held against where such storage can be. No header of ours goes there. */
async function put(url: string, body: FormData, context: RunwayContext): Promise<void> {
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
    // The storage may answer in a language of its own. That it took the file is all we want to know.
    const { status = 0 } = readProviderFailure(thrown);
    if (status < 200 || status >= 300) throw thrown;
  }
}
