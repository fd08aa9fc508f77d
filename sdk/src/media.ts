// Images and videos as the client returns them: from a response that is the file itself, or fetched from its URL on
// demand.
import type { ConnectionInternals } from "./connection.ts";
import { loadFileSystem } from "./runtime.ts";
import { sendRequest } from "./send-request.ts";

/** `Uint8Array`, in compilers that know the kind of its buffer one that `new Blob([bytes])` accepts. */
type Bytes = ReturnType<Uint8ArrayConstructor["from"]>;

/** An image or video. Its bytes are fetched on first use. */
export type Media = {
  /** URL of the file; null if the response was the file itself. */
  readonly url: string | null;
  /** ID of the run that produced the file. */
  readonly runId: string | undefined;
  /** The bytes with their media type. */
  blob(): Promise<Blob>;
  /** The bytes as an ArrayBuffer. */
  arrayBuffer(): Promise<ArrayBuffer>;
  /** The bytes as a Uint8Array. */
  bytes(): Promise<Bytes>;
  /** Writes the bytes to a file (Node.js, Bun, Deno). */
  saveTo(path: string): Promise<void>;
};

/** A file that is in memory already: its bytes, for example for `writeFileSync`, `Buffer.from` or `new Blob`. */
export type MediaBytes = Media & Bytes;

function createMedia(facts: { url: string | null; runId: string | undefined }, load: () => Promise<Blob>): Media {
  let loaded: Promise<Blob> | undefined;
  const blob = () => {
    loaded ??= load();
    return loaded;
  };
  const arrayBuffer = async () => (await blob()).arrayBuffer();
  const bytes = async () => new Uint8Array(await arrayBuffer());
  const saveTo = async (path: string) => (await loadFileSystem()).promises.writeFile(path, await bytes());
  return { ...facts, blob, arrayBuffer, bytes, saveTo };
}

/** The file in the body of a response. */
export async function mediaFromResponse(response: Response): Promise<MediaBytes> {
  const blob = await response.blob();
  const facts = { url: null, runId: response.headers.get("x-run-id") ?? undefined };
  return Object.assign(
    new Uint8Array(await blob.arrayBuffer()),
    createMedia(facts, async () => blob),
  );
}

const NO_CREDENTIAL = { header: async () => ({}), discardToken: () => false };

/** The file at a signed URL of the server. The signature grants access, so no credential is sent. */
export function mediaFromUrl({ settings }: ConnectionInternals, url: string, runId: string): Media {
  return createMedia({ url, runId }, async () => {
    const response = await sendRequest({ ...settings, headers: {} }, NO_CREDENTIAL, {
      method: "GET",
      url,
      headers: {},
      timeoutMs: 150_000,
      maxRetries: settings.maxRetries,
    });
    return response.blob();
  });
}
