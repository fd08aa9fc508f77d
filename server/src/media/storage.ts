// The door to where bytes are kept. A key is made by the server and names one content for ever, so whatever stands
// behind the door may be asked twice for the same thing without harm, and nobody ever sees half an object.
import { createHash, randomUUID } from "node:crypto";
import { Fault, type FaultCode } from "../faults.ts";

export type Stored = { key: string; sha256: string; size_bytes: number };
export type ObjectHead = { size_bytes: number; etag?: string };
export type ListedObject = { key: string; size_bytes: number; modified_at: Date };

/** Both ends are included, as in HTTP; an end past the object is cut, a start past it yields nothing. */
export type ByteRange = { start: number; end: number };

export type Storage = {
  /** Keeps bytes under a key. The first put of a key wins; every later one is success and changes nothing. */
  put(key: string, bytes: Uint8Array, mediaType: string): Promise<void>;
  /**
   * Keeps a stream under `${prefix}/${sha256}`, hashing on the way. Over `maxBytes` it is a payload_too_large fault;
   * then, and when the stream itself throws, nothing is left behind. What the stream throws is passed on untouched.
   */
  putStream(prefix: string, stream: AsyncIterable<Uint8Array>, options: StreamOptions): Promise<Stored>;
  /** Read it to the end or cancel it: until then it holds a file or a connection. */
  get(key: string, range?: ByteRange): Promise<ReadableStream<Uint8Array> | undefined>;
  bytes(key: string): Promise<Uint8Array | undefined>;
  head(key: string): Promise<ObjectHead | undefined>;
  /** Keys that are absent already are no error. */
  delete(keys: string[]): Promise<void>;
  /** Every object whose key begins with these characters, in no promised order. */
  list(prefix: string): AsyncIterable<ListedObject>;
  /** Takes away what was begun before then and never finished, and says how much that was. */
  forgetUnfinished(before: Date): Promise<number>;
  /** Writes, reads and deletes a small probe; throws dependency_unavailable when that fails. */
  ready(): Promise<void>;
};

export type StreamOptions = { mediaType: string; maxBytes: number };

export const assetKey = (tenantId: string, runId: string, sha256: string): string =>
  `t/${tenantId}/r/${runId}/${sha256}`;

/** Unfinished things live under this first segment; no key of an object may begin with it. */
export const temporarySegment = "tmp";

const segment = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/;

/** A key that does not fit was not made by the server's own rules: it is refused before anything is touched. */
export const checkKey = (key: string): string => {
  const segments = key.split("/");
  const isPlain = segments.every((part) => segment.test(part) && !part.includes(".."));
  if (!isPlain || key.length > 512 || segments[0] === temporarySegment) {
    throw new Fault("internal_error", {}, { cause: new Error(`not a storage key: ${JSON.stringify(key)}`) });
  }
  return key;
};

/** The prefix of a list is the beginning of a key, so it may also be empty or end with a slash. */
export const checkPrefix = (prefix: string): string => {
  const whole = prefix.replace(/\/$/, "");
  if (whole !== "") checkKey(whole);
  return prefix;
};

/** Runs what touches the store. Its failure leaves as this fault; the failure of a stream we were given leaves as it is. */
export const guard = async <T>(code: FaultCode, work: () => Promise<T>, source?: Meter): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    const failure = source?.failure();
    if (failure) throw failure.thrown;
    throw cause instanceof Fault ? cause : new Fault(code, {}, { cause });
  }
};

export type Meter = {
  chunks: AsyncGenerator<Uint8Array, void, undefined>;
  /** Only after the last chunk. */
  result(): { sha256: string; size_bytes: number };
  /** What the source threw, so that a caller who hung up is not taken for a broken disk. */
  failure(): { thrown: unknown } | undefined;
};

/** Counts and hashes a stream while it passes, and ends it at the first byte over the limit. */
export const meter = (stream: AsyncIterable<Uint8Array>, maxBytes: number): Meter => {
  const hash = createHash("sha256");
  let sizeBytes = 0;
  let failure: { thrown: unknown } | undefined;
  const pass = async function* () {
    try {
      for await (const chunk of stream) {
        sizeBytes += chunk.byteLength;
        if (sizeBytes > maxBytes) throw new Fault("payload_too_large", { max_bytes: maxBytes });
        hash.update(chunk);
        yield chunk;
      }
    } catch (thrown) {
      failure = { thrown };
      throw thrown;
    }
  };
  return {
    chunks: pass(),
    result: () => ({ sha256: hash.digest("hex"), size_bytes: sizeBytes }),
    failure: () => failure,
  };
};

/** The body of `ready`: a disk may be full or read-only, a bucket readable only; nothing short of writing finds out. */
export const proveReady = async (storage: Storage, prepare: () => Promise<void> = async () => {}): Promise<void> => {
  const key = `ready/${randomUUID()}`;
  try {
    await prepare();
    await storage.put(key, Buffer.from(key), "text/plain");
    const found = await storage.bytes(key);
    await storage.delete([key]);
    if (!found || Buffer.compare(found, Buffer.from(key)) !== 0) throw new Error("the probe came back changed");
  } catch (cause) {
    throw new Fault("dependency_unavailable", { dependency: "storage" }, { cause });
  }
};
