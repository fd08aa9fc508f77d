// Storage in a bucket of any S3 server. A key is written once, by a conditional put; streams too large to hold go in
// parts to a temporary key and are copied to their name when it is known, so half an object never has a name.
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { type Bucket, ensureBucket, openBucket, type S3Options, statusOf, withinLimit } from "./s3-client.ts";
import { abortUploads, dropTemporary } from "./s3-leftovers.ts";
import {
  type ByteRange,
  checkKey,
  checkPrefix,
  guard,
  type ListedObject,
  type Meter,
  meter,
  type ObjectHead,
  proveReady,
  type Storage,
  type Stored,
  temporarySegment,
} from "./storage.ts";

/** Nearly every result fits in this and then costs one request; it is also the size of a part of those that do not. */
const heldBytes = 8 * 1024 * 1024;
const mostKeysPerDelete = 1_000;
const mostTries = 5;

export const s3Storage = (options: S3Options): Storage & { ensureBucket(): Promise<void> } => {
  const bucket = openBucket(options);
  const storage: Storage = {
    put: async (key, bytes, mediaType) => {
      checkKey(key);
      await guard("storage_failed", () => putOnce(bucket, key, bytes, mediaType));
    },
    putStream: (prefix, stream, { mediaType, maxBytes }) => {
      const metered = meter(stream, maxBytes);
      return guard("storage_failed", () => putMetered(bucket, checkKey(prefix), metered, mediaType), metered);
    },
    get: async (key, range) => {
      checkKey(key);
      return guard("asset_unavailable", async () => (await bodyOf(bucket, key, range))?.transformToWebStream());
    },
    bytes: async (key) => {
      checkKey(key);
      return guard("asset_unavailable", async () => (await bodyOf(bucket, key))?.transformToByteArray());
    },
    head: async (key) => {
      checkKey(key);
      return guard("asset_unavailable", () => headOf(bucket, key));
    },
    delete: async (keys) => {
      keys.forEach(checkKey);
      await guard("storage_failed", async () => {
        for (let from = 0; from < keys.length; from += mostKeysPerDelete) {
          await deleteSome(bucket, keys.slice(from, from + mostKeysPerDelete));
        }
      });
    },
    list: (prefix) => listAll(bucket, checkPrefix(prefix)),
    forgetUnfinished: (before) =>
      guard("storage_failed", async () => (await abortUploads(bucket, before)) + (await dropTemporary(bucket, before))),
    ready: () => proveReady(storage),
  };
  return { ...storage, ensureBucket: () => guard("dependency_unavailable", () => ensureBucket(bucket)) };
};

const putOnce = async ({ client, name }: Bucket, key: string, bytes: Uint8Array, mediaType: string): Promise<void> => {
  const input = { Bucket: name, Key: key, Body: bytes, ContentType: mediaType, IfNoneMatch: "*" };
  for (let attempt = 1; ; attempt++) {
    try {
      await withinLimit((limit) => client.send(new PutObjectCommand(input), limit));
      return;
    } catch (thrown) {
      const status = statusOf(thrown);
      // It is there: put by another, or by our own first try whose answer was lost.
      if (status === 412) return;
      // Another put of this key is under way and may still fail, so its success is not ours to claim.
      if (status !== 409 || attempt === mostTries) throw thrown;
      await sleep(100 * attempt);
    }
  }
};

/** A stream's name is known only at its end: what is small waits for it in memory, the rest never does. */
const putMetered = async (bucket: Bucket, prefix: string, metered: Meter, mediaType: string): Promise<Stored> => {
  const held = await take(metered.chunks, heldBytes);
  const name = (): Stored => {
    const { sha256, size_bytes } = metered.result();
    return { key: `${prefix}/${sha256}`, sha256, size_bytes };
  };
  if (!held.isWhole) return putInParts(bucket, chain(held.chunks, metered.chunks), name, mediaType);
  const stored = name();
  await putOnce(bucket, stored.key, Buffer.concat(held.chunks), mediaType);
  return stored;
};

const take = async (source: AsyncIterator<Uint8Array>, enoughBytes: number) => {
  const chunks: Uint8Array[] = [];
  for (let size = 0; size <= enoughBytes; ) {
    const next = await source.next();
    if (next.done) return { chunks, isWhole: true };
    chunks.push(next.value);
    size += next.value.byteLength;
  }
  return { chunks, isWhole: false };
};

async function* chain(first: Uint8Array[], rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (let chunk = first.shift(); chunk; chunk = first.shift()) yield chunk;
  yield* rest;
}

const putInParts = async (
  { client, name }: Bucket,
  chunks: AsyncIterable<Uint8Array>,
  finish: () => Stored,
  mediaType: string,
): Promise<Stored> => {
  const temporary = `${temporarySegment}/${randomUUID()}`;
  const body = Readable.from(chunks);
  const params = { Bucket: name, Key: temporary, Body: body, ContentType: mediaType };
  try {
    await new Upload({ client, params, partSize: heldBytes, queueSize: 2 }).done();
    const stored = finish();
    const copy = { Bucket: name, Key: stored.key, CopySource: `${name}/${temporary}` };
    await withinLimit((limit) => client.send(new CopyObjectCommand(copy), limit));
    return stored;
  } finally {
    body.destroy();
    const gone = new DeleteObjectCommand({ Bucket: name, Key: temporary });
    // The outcome is decided by now; what cannot be deleted falls to the bucket's rule for leftovers.
    await withinLimit((limit) => client.send(gone, limit)).catch(() => undefined);
  }
};

const bodyOf = async ({ client, name }: Bucket, key: string, range?: ByteRange) => {
  const Range = range && `bytes=${range.start}-${range.end}`;
  try {
    const command = new GetObjectCommand({ Bucket: name, Key: key, Range });
    return (await withinLimit((limit) => client.send(command, limit))).Body;
  } catch (thrown) {
    // By name and not by 404, which a missing bucket answers too.
    if ((thrown as Error).name === "NoSuchKey") return undefined;
    if (statusOf(thrown) === 416) return emptyBody;
    throw thrown;
  }
};

const emptyBody = {
  transformToWebStream: () => new Blob([]).stream(),
  transformToByteArray: async () => new Uint8Array(),
};

const headOf = async ({ client, name }: Bucket, key: string): Promise<ObjectHead | undefined> => {
  try {
    const command = new HeadObjectCommand({ Bucket: name, Key: key });
    const { ContentLength, ETag } = await withinLimit((limit) => client.send(command, limit));
    return { size_bytes: ContentLength ?? 0, ...(ETag && { etag: ETag }) };
  } catch (thrown) {
    if (statusOf(thrown) === 404) return undefined;
    throw thrown;
  }
};

const deleteSome = async ({ client, name }: Bucket, keys: string[]): Promise<void> => {
  const Delete = { Objects: keys.map((Key) => ({ Key })), Quiet: true };
  const command = new DeleteObjectsCommand({ Bucket: name, Delete });
  const { Errors: failures = [] } = await withinLimit((limit) => client.send(command, limit));
  const first = failures.find((failure) => failure.Code !== "NoSuchKey");
  if (first) throw new Error(`S3 could not delete ${failures.length} objects: ${first.Code} ${first.Key}`);
};

async function* listAll({ client, name }: Bucket, prefix: string): AsyncGenerator<ListedObject> {
  let ContinuationToken: string | undefined;
  do {
    const command = new ListObjectsV2Command({ Bucket: name, Prefix: prefix, ContinuationToken });
    const page = await withinLimit((limit) => client.send(command, limit));
    for (const { Key, Size = 0, LastModified = new Date() } of page.Contents ?? []) {
      if (!Key || Key.startsWith(`${temporarySegment}/`)) continue;
      yield { key: Key, size_bytes: Size, modified_at: LastModified };
    }
    ContinuationToken = page.NextContinuationToken;
  } while (ContinuationToken);
}
