// Fetches a result from the provider's allowed origins. Images and small videos are read into memory, within the byte
// budget of the process; a large video, and a file that Gesso does not read, is handed on as a stream. A result is
// never refused for its size: while it is larger than the setting allows, the step fails with a fault that says so and
// can be repeated.
import { Fault } from "../../faults/faults.ts";
import { detectMediaType, HEAD_BYTES } from "../../files/formats/detect-media-type.ts";
import { detectType } from "../../files/formats/detect-type.ts";
import type { OutboundHttp } from "../../outbound/outbound-http.ts";
import type { ProviderOutput } from "../../providers/provider.ts";
import type { RunSettings } from "../core/run-settings.ts";
import type { EnabledProvider } from "../offers/provider-registry.ts";
import type { ByteBudget, ByteReservation } from "./byte-budget.ts";

const MEGABYTE = 1024 * 1024;
/** What a fetch reserves before it knows how large the file is. Larger videos are streamed. */
const SMALL_BYTES = 8 * MEGABYTE;
/** What a stream holds: the chunks on their way, and the parts of an upload to S3. */
const STREAM_BYTES = 32 * MEGABYTE;
/** The decoder takes no larger message, and an image of 50 megapixels needs less. */
const MAX_IMAGE_BYTES = 512 * MEGABYTE;
/** A video in memory, for its signature. */
export const MAX_SIGNED_BYTES = 100 * MEGABYTE;

/** Longer than a run of a video may take. A server that is silent or slower than 10 kB/s is given up before. */
const DOWNLOAD_SECONDS = 3600;

export type FetchDependencies = {
  http: Pick<OutboundHttp, "open">;
  byteBudget: ByteBudget;
  settings: Pick<RunSettings, "maxOutputBytes">;
};

/** `stream` can be read once. It throws the faults of this step. */
export type FetchedOutput =
  | { bytes: Uint8Array; stream?: never }
  | { stream: AsyncIterable<Uint8Array>; media_type: string };

export type OutputToFetch = {
  enabledProvider: EnabledProvider;
  output: ProviderOutput;
  /** Why a result of the job cannot have this media type. Undefined if it can. */
  findTypeProblem(mediaType: string): string | undefined;
  /** Whether videos are signed, which needs them in memory. */
  signsVideos(): Promise<boolean>;
  signal?: AbortSignal | undefined;
};

/** Calls `use` with the result. What it holds in memory is counted until `use` has ended. */
export async function withFetchedOutput<T>(
  dependencies: FetchDependencies,
  { output, ...rest }: OutputToFetch,
  use: (fetched: FetchedOutput) => Promise<T>,
): Promise<T> {
  if ("bytes" in output) {
    const { bytes } = output;
    const media_type = await detectMediaType(bytes.subarray(0, HEAD_BYTES));
    // What the job cannot have is refused where files are read.
    const isStored = !isReadable(bytes) && rest.findTypeProblem(media_type) === undefined;
    return use(isStored ? { stream: oneChunk(bytes), media_type } : { bytes });
  }
  const file = { ...rest, url: output.url, isForeign: output.isForeign === true };
  for (let neededBytes = SMALL_BYTES; ; ) {
    const reservation = await dependencies.byteBudget.reserve(neededBytes, file.signal);
    try {
      const download = await openDownload(dependencies, file);
      try {
        const fetched = await readOutput(download, file, reservation);
        if (!("neededBytes" in fetched)) return await use(fetched);
        neededBytes = fetched.neededBytes;
      } finally {
        await download.leave();
      }
    } finally {
      reservation.release();
    }
  }
}

type FileToFetch = Omit<OutputToFetch, "output"> & { url: string; isForeign: boolean };

/** `neededBytes`: the budget has no space for the file now. The wait for it holds neither memory nor a connection. */
async function readOutput(
  { chunks, readMore, rest, expectedBytes = 0 }: OutputDownload,
  { url, signsVideos, findTypeProblem }: FileToFetch,
  reservation: ByteReservation,
): Promise<FetchedOutput | { neededBytes: number }> {
  while (chunks.size() < HEAD_BYTES && (await readMore()));
  const head = chunks.join();
  const media_type = await requireType(head, { findTypeProblem, name: new URL(url).pathname });
  const isVideo = media_type === "video/mp4";
  const stream = (): FetchedOutput | { neededBytes: number } =>
    reservation.tryGrow(STREAM_BYTES) ? { stream: rest(), media_type } : { neededBytes: STREAM_BYTES };
  if (!isReadable(head)) return stream();
  const limit = !isVideo ? MAX_IMAGE_BYTES : (await signsVideos()) ? MAX_SIGNED_BYTES : SMALL_BYTES;
  const streamLarge = () => {
    if (!isVideo) throw new Fault("provider_output_invalid", { reason: "image_too_large" });
    return stream();
  };
  if (expectedBytes > limit) return streamLarge();
  let reservedBytes = Math.max(expectedBytes, SMALL_BYTES);
  if (!reservation.tryGrow(reservedBytes)) return { neededBytes: reservedBytes };
  while (await readMore()) {
    if (chunks.size() > limit) return streamLarge();
    if (chunks.size() <= reservedBytes) continue;
    reservedBytes = Math.min(limit, chunks.size() * 2);
    if (!reservation.tryGrow(reservedBytes)) return { neededBytes: reservedBytes };
  }
  const bytes = chunks.join();
  reservation.shrink(bytes.byteLength);
  return { bytes };
}

const isReadable = (head: Uint8Array): boolean => detectType(head) !== undefined;

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

type TypeRule = Pick<OutputToFetch, "findTypeProblem"> & { name?: string };

/** The media type of a result by its first bytes. Throws for one that the job cannot have. */
async function requireType(bytes: Uint8Array, { findTypeProblem, name }: TypeRule): Promise<string> {
  const media_type = await detectMediaType(bytes.subarray(0, HEAD_BYTES), name);
  const reason = findTypeProblem(media_type);
  if (reason) throw new Fault("provider_output_invalid", { reason, media_type });
  return media_type;
}

type OutputDownload = Awaited<ReturnType<typeof openDownload>>;

/** How a result of the provider is fetched. One that is anywhere else is fetched as a URL of a caller is. */
function ownRulesOf({ enabledProvider: { provider, env }, isForeign }: FileToFetch) {
  if (isForeign) return {};
  const origins = provider.resultOrigins(env);
  return {
    trustedOrigins: origins.filter((origin) => !origin.includes("*")),
    allowedOrigins: origins,
    headers: provider.resultHeaders?.(env) ?? {},
  };
}

async function openDownload({ http, settings }: FetchDependencies, file: FileToFetch) {
  const { url, signal } = file;
  const { maxOutputBytes } = settings;
  const asOutputFault = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (thrown) {
      throw toOutputFault(thrown, maxOutputBytes);
    }
  };
  const { size_bytes, bytes } = await asOutputFault(
    http.open(url, {
      maxBytes: maxOutputBytes,
      timeoutSeconds: DOWNLOAD_SECONDS,
      ...ownRulesOf(file),
      ...(signal && { signal }),
    }),
  );
  const chunks = createChunkList();
  const readMore = async (): Promise<boolean> => {
    const next = await asOutputFault(bytes.next());
    if (!next.done) chunks.add(next.value);
    return !next.done;
  };
  return {
    expectedBytes: size_bytes,
    chunks,
    readMore,
    /** What was read so far and what comes. */
    async *rest(): AsyncGenerator<Uint8Array, void, undefined> {
      do yield* chunks.drain();
      while (await readMore());
    },
    /** Closes the connection, also of a stream that its reader has left. */
    leave: async () => void (await bytes.return().catch(() => undefined)),
  };
}

function createChunkList() {
  let held: Uint8Array[] = [];
  let size = 0;
  return {
    size: () => size,
    add(chunk: Uint8Array) {
      held.push(chunk);
      size += chunk.byteLength;
    },
    join(): Uint8Array {
      if (held.length > 1) held = [Buffer.concat(held, size)];
      return held[0] ?? new Uint8Array();
    },
    *drain(): Generator<Uint8Array, void, undefined> {
      for (let chunk = held.shift(); chunk; chunk = held.shift()) yield chunk;
    },
  };
}

function toOutputFault(thrown: unknown, maxOutputBytes: number): Fault {
  if (thrown instanceof Fault && thrown.code === "source_too_large") return outputTooLarge(maxOutputBytes, thrown);
  if (thrown instanceof Fault && isPermanentFailure(thrown))
    return new Fault("provider_output_invalid", { reason: "unreadable" }, { cause: thrown });
  // The provider's file server is unavailable. The engine retries the step.
  return new Fault("dependency_unavailable", {}, { cause: thrown });
}

export const OUTPUT_TOO_LARGE = "output_too_large";

/** The provider has made the result and charges for it, so it is fetched again until it fits or the run is over. */
const outputTooLarge = (max_bytes: number, cause: unknown) =>
  new Fault("storage_failed", { reason: OUTPUT_TOO_LARGE, max_bytes, setting: "MAX_OUTPUT_MEGABYTES" }, { cause });

/** The server responded, and a retry would get the same response. */
const PERMANENT_FETCH_REASONS: unknown[] = ["page", "empty", "encoding", "too_many_redirects"];

function isPermanentFailure({ code, details }: Fault): boolean {
  if (code === "dependency_unavailable") return false;
  return code !== "source_fetch_failed" || details.status === 404 || PERMANENT_FETCH_REASONS.includes(details.reason);
}
