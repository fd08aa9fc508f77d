// Pictures and films as callers get them: from an answer that is the file itself, or from its address when asked for.

import type { ConnectionInternals } from "./connection.ts";
import { loadFileSystem } from "./runtime.ts";
import { sendRequest } from "./send-request.ts";

/** A picture or film. Nothing is fetched before it is asked for. */
export type Media = {
  /** Where it lies; null when it came as the answer itself. */
  readonly url: string | null;
  /** The run that made it. */
  readonly runId: string | undefined;
  /** Its bytes and type. */
  blob(): Promise<Blob>;
  /** Its bytes. */
  arrayBuffer(): Promise<ArrayBuffer>;
  /** Its bytes. */
  bytes(): Promise<Uint8Array>;
  /** Writes it to a file (Node, Bun, Deno). */
  saveTo(path: string): Promise<void>;
};

type LoadedFile = { bytes: ArrayBuffer; type: string };

function createMedia(facts: { url: string | null; runId: string | undefined }, load: () => Promise<LoadedFile>): Media {
  let loaded: Promise<LoadedFile> | undefined;
  const get = () => {
    loaded ??= load();
    return loaded;
  };
  return {
    ...facts,
    blob: async () => {
      const { bytes, type } = await get();
      return new Blob([bytes], { type });
    },
    arrayBuffer: async () => (await get()).bytes,
    bytes: async () => new Uint8Array((await get()).bytes),
    saveTo: async (path) => (await loadFileSystem()).promises.writeFile(path, new Uint8Array((await get()).bytes)),
  };
}

/** The file that an answer is. */
export async function mediaFromResponse(response: Response): Promise<Media> {
  const bytes = await response.arrayBuffer();
  const type = response.headers.get("content-type") ?? "";
  return createMedia({ url: null, runId: response.headers.get("x-run-id") ?? undefined }, async () => ({
    bytes,
    type,
  }));
}

const NO_CREDENTIAL = { header: async () => ({}), renew: () => false };

/** The file at an address of ours. The address carries its own permission, so no credential goes with it. */
export function mediaFromUrl({ settings }: ConnectionInternals, url: string, runId: string): Media {
  return createMedia({ url, runId }, async () => {
    const response = await sendRequest({ ...settings, headers: {} }, NO_CREDENTIAL, {
      method: "GET",
      url,
      headers: {},
      body: async () => ({ headers: {} }),
      timeoutMs: 150_000,
      maxRetries: settings.maxRetries,
    });
    return { bytes: await response.arrayBuffer(), type: response.headers.get("content-type") ?? "" };
  });
}
