// Fetches the file behind a URL as it is, of any medium, for a model whose own schema says what it takes. It is
// streamed into the storage, so its size does not matter for the memory of the worker. An image that Gesso reads is
// stored as any other source: without its metadata.

import { insertSourceAsset } from "../../db/files/assets.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import type { StoredAsset } from "../../db/typed-columns.ts";
import { Fault } from "../../faults/faults.ts";
import { detectMediaType, HEAD_BYTES } from "../../files/formats/detect-media-type.ts";
import { type ObjectStorage, runPrefix } from "../../files/storage/object-storage.ts";
import type { OutboundHttp } from "../../outbound/outbound-http.ts";
import type { ByteBudget } from "../outputs/byte-budget.ts";
import type { ClaimedStep } from "./claimed-step.ts";
import { isImageToRead, MAX_SOURCE_BYTES, type SourceDependencies, storeSource } from "./store-source.ts";

const MEGABYTE = 1024 * 1024;
/** What providers take for training, and for long videos. */
const MAX_FILE_BYTES = 1024 * MEGABYTE;
/** What a stream holds, and enough for an image. */
const STREAM_BYTES = 32 * MEGABYTE;
const FETCH_SECONDS = 900;

export type FetchFileDependencies = SourceDependencies & {
  assets: { storage: Pick<ObjectStorage, "putStream"> };
  http: Pick<OutboundHttp, "open">;
  byteBudget: ByteBudget;
};

/** While the storage is away, the whole is repeated: a stream can be read once. */
export const fetchFile = (
  services: FetchFileDependencies & { step: ClaimedStep },
  claim: RunClaim,
  { asset_id, url }: { asset_id: string; url: string },
): Promise<StoredAsset> =>
  services.step.retryWhileUnavailable(async () => {
    const { database, byteBudget, step } = services;
    const reservation = await byteBudget.reserve(STREAM_BYTES, step.signal);
    try {
      const file = await fetchAndStore(services, claim, { asset_id, url });
      await insertSourceAsset(database, claim, file);
      return file;
    } finally {
      reservation.release();
    }
  });

async function fetchAndStore(
  services: FetchFileDependencies & { step: ClaimedStep },
  claim: RunClaim,
  { asset_id, url }: { asset_id: string; url: string },
) {
  const { http, assets, step } = services;
  const limits = { maxBytes: MAX_FILE_BYTES, timeoutSeconds: FETCH_SECONDS, signal: step.signal };
  const { bytes } = await http.open(url, limits);
  try {
    const head = await readAtMost(bytes, HEAD_BYTES);
    if (isImageToRead(head)) {
      const image = Buffer.concat([head, await readAtMost(bytes, MAX_SOURCE_BYTES - head.byteLength + 1)]);
      if (image.byteLength > MAX_SOURCE_BYTES) throw new Fault("source_too_large", { max_bytes: MAX_SOURCE_BYTES });
      return (await storeSource(services, claim, { asset_id, role: "source", bytes: image })).file;
    }
    const media_type = await detectMediaType(head, new URL(url).pathname);
    const { key, ...stored } = await assets.storage.putStream(
      runPrefix(claim.tenant_id, claim.run_id),
      join(head, bytes),
      { mediaType: media_type, maxBytes: MAX_FILE_BYTES },
    );
    return { asset_id, media_type, width: null, height: null, ...stored, role: "source", storage_key: key };
  } finally {
    // Closes the connection.
    await bytes.return(undefined).catch(() => undefined);
  }
}

/** Stops after the chunk with which there are that many bytes. */
async function readAtMost(stream: AsyncIterator<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for (let length = 0; length < maxBytes; ) {
    const next = await stream.next();
    if (next.done) break;
    chunks.push(next.value);
    length += next.value.byteLength;
  }
  return Buffer.concat(chunks);
}

async function* join(head: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (head.byteLength > 0) yield head;
  yield* rest;
}
