// Storage in an S3 bucket. A key is written once, with a conditional put. Large streams are uploaded in parts to a
// temporary key and copied to their final key when the hash is known, so no partial object gets a final key.
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import {
  assertStorageKey,
  assertStoragePrefix,
  type ByteRange,
  type HashedStream,
  hashStream,
  type ListedObject,
  type ObjectHead,
  type ObjectStorage,
  probeReadiness,
  type StoredObject,
  TEMPORARY_PREFIX,
  withStorageFault,
} from "./object-storage.ts";
import {
  createS3Bucket,
  ensureBucket,
  type S3Bucket,
  type S3Options,
  s3ErrorStatus,
  withTimeout,
} from "./s3-client.ts";
import { copyObject } from "./s3-copy.ts";
import { abortUnfinishedUploads, deleteTemporaryObjects } from "./s3-unfinished-uploads.ts";

/** Most results fit into this size and need one request. */
const heldBytes = 8 * 1024 * 1024;
/** The smallest part that S3 allows. Parts are in memory, and a worker may upload many objects at once. */
const partBytes = 5 * 1024 * 1024;
const mostKeysPerDelete = 1_000;
const mostTries = 5;

export const createS3Storage = (options: S3Options): ObjectStorage & { ensureBucket(): Promise<void> } => {
  const bucket = createS3Bucket(options);
  const storage: ObjectStorage = {
    put: async (key, bytes, mediaType) => {
      assertStorageKey(key);
      await withStorageFault("storage_failed", () => putOnce(bucket, key, bytes, mediaType));
    },
    putStream: (prefix, stream, { mediaType, maxBytes }) => {
      const metered = hashStream(stream, maxBytes);
      return withStorageFault(
        "storage_failed",
        () => putHashedStream(bucket, assertStorageKey(prefix), metered, mediaType),
        metered,
      );
    },
    get: async (key, range) => {
      assertStorageKey(key);
      return withStorageFault("asset_unavailable", async () =>
        (await bodyOf(bucket, key, range))?.transformToWebStream(),
      );
    },
    bytes: async (key) => {
      assertStorageKey(key);
      return withStorageFault("asset_unavailable", async () => (await bodyOf(bucket, key))?.transformToByteArray());
    },
    head: async (key) => {
      assertStorageKey(key);
      return withStorageFault("asset_unavailable", () => headOf(bucket, key));
    },
    delete: async (keys) => {
      keys.forEach(assertStorageKey);
      await withStorageFault("storage_failed", async () => {
        for (let from = 0; from < keys.length; from += mostKeysPerDelete) {
          await deleteSome(bucket, keys.slice(from, from + mostKeysPerDelete));
        }
      });
    },
    list: (prefix) => listAll(bucket, assertStoragePrefix(prefix)),
    maintenance: {
      deleteUnfinished: (before) =>
        withStorageFault(
          "storage_failed",
          async () => (await abortUnfinishedUploads(bucket, before)) + (await deleteTemporaryObjects(bucket, before)),
        ),
      checkReady: () => probeReadiness(storage),
    },
  };
  return { ...storage, ensureBucket: () => withStorageFault("dependency_unavailable", () => ensureBucket(bucket)) };
};

const putOnce = async (
  { client, name, clock }: S3Bucket,
  key: string,
  bytes: Uint8Array,
  mediaType: string,
): Promise<void> => {
  const input = { Bucket: name, Key: key, Body: bytes, ContentType: mediaType, IfNoneMatch: "*" };
  for (let attempt = 1; ; attempt++) {
    try {
      await withTimeout(clock, (limit) => client.send(new PutObjectCommand(input), limit));
      return;
    } catch (thrown) {
      const status = s3ErrorStatus(thrown);
      // The object exists: written by another process, or by a first attempt whose response was lost.
      if (status === 412) return;
      // Another write of this key is in progress and can still fail, so it does not count as success.
      if (status !== 409 || attempt === mostTries) throw thrown;
      await clock.sleep(100 * attempt);
    }
  }
};

/**
 * The key of a stream is known only at its end. Small streams are buffered in memory, larger ones are uploaded in
 * parts.
 */
const putHashedStream = async (
  bucket: S3Bucket,
  prefix: string,
  metered: HashedStream,
  mediaType: string,
): Promise<StoredObject> => {
  const held = await take(metered.chunks, heldBytes);
  const name = (): StoredObject => {
    const { sha256, size_bytes } = metered.result();
    return { key: `${prefix}/${sha256}`, sha256, size_bytes };
  };
  if (!held.isWhole) return multipartUpload(bucket, chain(held.chunks, metered.chunks), name, mediaType);
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

const multipartUpload = async (
  { client, name, clock }: Omit<S3Bucket, "region">,
  chunks: AsyncIterable<Uint8Array>,
  finish: () => StoredObject,
  mediaType: string,
): Promise<StoredObject> => {
  const temporary = `${TEMPORARY_PREFIX}/${randomUUID()}`;
  const body = Readable.from(chunks);
  const params = { Bucket: name, Key: temporary, Body: body, ContentType: mediaType };
  try {
    await new Upload({ client, params, partSize: partBytes, queueSize: 1 }).done();
    const stored = finish();
    await copyObject({ client, name, clock }, { from: temporary, to: stored, mediaType });
    return stored;
  } finally {
    body.destroy();
    const deletion = new DeleteObjectCommand({ Bucket: name, Key: temporary });
    // The outcome is decided. If the deletion fails, the bucket's lifecycle rule removes the object.
    await withTimeout(clock, (limit) => client.send(deletion, limit)).catch(() => undefined);
  }
};

const bodyOf = async ({ client, name, clock }: S3Bucket, key: string, range?: ByteRange) => {
  const Range = range && `bytes=${range.start}-${range.end}`;
  try {
    const command = new GetObjectCommand({ Bucket: name, Key: key, Range });
    return (await withTimeout(clock, (limit) => client.send(command, limit))).Body;
  } catch (thrown) {
    // By name and not by status 404, which a missing bucket also returns.
    if ((thrown as Error).name === "NoSuchKey") return undefined;
    if (s3ErrorStatus(thrown) === 416) return emptyBody;
    throw thrown;
  }
};

const emptyBody = {
  transformToWebStream: () => new Blob([]).stream(),
  transformToByteArray: async () => new Uint8Array(),
};

const headOf = async ({ client, name, clock }: S3Bucket, key: string): Promise<ObjectHead | undefined> => {
  try {
    const command = new HeadObjectCommand({ Bucket: name, Key: key });
    const { ContentLength, ETag } = await withTimeout(clock, (limit) => client.send(command, limit));
    return { size_bytes: ContentLength ?? 0, ...(ETag && { etag: ETag }) };
  } catch (thrown) {
    if (s3ErrorStatus(thrown) === 404) return undefined;
    throw thrown;
  }
};

const deleteSome = async ({ client, name, clock }: S3Bucket, keys: string[]): Promise<void> => {
  const Delete = { Objects: keys.map((Key) => ({ Key })), Quiet: true };
  const command = new DeleteObjectsCommand({ Bucket: name, Delete });
  const { Errors: failures = [] } = await withTimeout(clock, (limit) => client.send(command, limit));
  const first = failures.find((failure) => failure.Code !== "NoSuchKey");
  if (first) throw new Error(`S3 could not delete ${failures.length} objects: ${first.Code} ${first.Key}`);
};

async function* listAll({ client, name, clock }: S3Bucket, prefix: string): AsyncGenerator<ListedObject> {
  let ContinuationToken: string | undefined;
  do {
    const command = new ListObjectsV2Command({ Bucket: name, Prefix: prefix, ContinuationToken });
    const page = await withTimeout(clock, (limit) => client.send(command, limit));
    for (const { Key, Size = 0, LastModified = new Date() } of page.Contents ?? []) {
      if (!Key || Key.startsWith(`${TEMPORARY_PREFIX}/`)) continue;
      yield { key: Key, size_bytes: Size, modified_at: LastModified };
    }
    ContinuationToken = page.NextContinuationToken;
  } while (ContinuationToken);
}
