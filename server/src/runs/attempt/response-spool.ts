// A directory on the worker's disk for provider responses that cannot be requested again. A response is written, synced
// and renamed before it is stored anywhere else, so it survives storage, PostgreSQL and the worker process. Files are
// private, contain no credential, and are named by their attempt.
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import type { Job, Task } from "../../contract/operation.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { AttemptRef } from "../../db/attempts/attempts.ts";
import { SOCKET_SUFFIX } from "../../outbound/process-sockets.ts";
import type { JobProgress, ProviderOutput, SelectedOffer } from "../../providers/provider.ts";
import type { Clock, Ids } from "../../runtime/clock.ts";
import { attemptKey, toAttemptRef } from "../core/ids.ts";
import type { ProvenJob } from "../outputs/output-provenance.ts";

export const SpoolEnv = z.object({
  SPOOL_DIR: z
    .string()
    .min(1)
    .default(".gesso/spool")
    .describe("Directory in which a worker keeps paid responses until they are stored. Use a disk that outlives it"),
  SPOOL_MEGABYTES: z.coerce
    .number()
    .min(1)
    .default(2048)
    .describe("Maximum size of SPOOL_DIR in megabytes. Further responses are kept only in memory"),
});

export type SpooledResponse = {
  response: JobProgress;
  offer: SelectedOffer;
  /** Number of results that the job asked for. */
  count?: number | undefined;
  /** Absent in files of versions that did not write it. */
  task?: Task | undefined;
  /** What the provenance of the results says about the job, and where an imported model has its files. */
  job?: (ProvenJob & Pick<Job, "model_run">) | undefined;
  /** The recorded provider request, which has no credentials. */
  request?: JsonObject | undefined;
};
export type SpoolEntry = { attempt: AttemptRef; modifiedAt: number };

export type ResponseSpool = {
  /** Identifies the directory. Workers that share the directory have the same id. */
  id(): string;
  /** Throws if the directory is full or cannot be written. */
  write(attempt: AttemptRef, response: SpooledResponse): Promise<void>;
  /** Undefined if there is no response, or if it is not complete. */
  read(attempt: AttemptRef): Promise<SpooledResponse | undefined>;
  remove(attempt: AttemptRef): Promise<void>;
  /** Counts the age of the response anew, so that it is not deleted as a leftover. */
  keep(attempt: AttemptRef): Promise<void>;
  list(): Promise<SpoolEntry[]>;
  /** Deletes files that were last written before this time, in milliseconds since 1970. Returns their number. */
  deleteOlderThan(time: number): Promise<number>;
};

const ID_FILE = "id";
const FILE_NAME = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(\d{1,5})\.(\d{1,5})$/;
const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;
const MEGABYTE = 1024 * 1024;
/** The size of the directory is read again after this many bytes, and before a response is refused. */
const READ_SIZE_AFTER_BYTES = 64 * MEGABYTE;

export function createResponseSpool(
  { SPOOL_DIR, SPOOL_MEGABYTES }: z.output<typeof SpoolEnv>,
  { clock, ids }: { clock: Pick<Clock, "now">; ids: Ids },
): ResponseSpool {
  const directory = resolve(SPOOL_DIR);
  let id: string | undefined;
  const pathOf = (attempt: AttemptRef) => {
    const name = attemptKey(attempt);
    if (!FILE_NAME.test(name)) throw new Error(`not the name of an attempt: ${name}`);
    return join(directory, name);
  };
  const listFiles = async () => {
    const names = (await unlessMissing(readdir(directory))) ?? [];
    const files = await Promise.all(
      names
        .filter((name) => name !== ID_FILE && !name.endsWith(SOCKET_SUFFIX))
        .map(async (name) => ({ name, found: await unlessMissing(stat(join(directory, name))) })),
    );
    // The directory also has the marks of the workers.
    return files.flatMap(({ name, found }) =>
      found?.isFile() ? [{ name, size: found.size, modifiedAt: found.mtimeMs }] : [],
    );
  };
  /** Bytes in the directory when its size was last read, and bytes written since. */
  let read: number | undefined;
  let written = 0;
  const reserve = async (size: number): Promise<void> => {
    const max = SPOOL_MEGABYTES * MEGABYTE;
    if (read === undefined || written > READ_SIZE_AFTER_BYTES || read + written + size > max) {
      written = 0;
      read = (await listFiles()).reduce((sum, file) => sum + file.size, 0);
    }
    if (read + written + size > max) throw new Error("the spool directory is full");
    written += size;
  };

  return {
    id: () => {
      id ??= readOrCreateId(directory, ids);
      return id;
    },
    async write(attempt, response) {
      const path = pathOf(attempt);
      const chunks = encode(attempt, response);
      await reserve(chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0));
      await writeSynced({ path, draft: join(directory, `${ids.next()}.draft`) }, chunks);
    },
    async read(attempt) {
      const bytes = await unlessMissing(readFile(pathOf(attempt)));
      return bytes && decode(attempt, bytes);
    },
    remove: (attempt) => rm(pathOf(attempt), { force: true }),
    async keep(attempt) {
      const now = new Date(clock.now());
      await unlessMissing(utimes(pathOf(attempt), now, now));
    },
    async list() {
      return (await listFiles()).flatMap(({ name, modifiedAt }) => {
        const [, runId, requestIndex, attemptNumber] = FILE_NAME.exec(name) ?? [];
        if (!runId) return [];
        return [{ attempt: toAttemptRef(runId, Number(requestIndex), Number(attemptNumber)), modifiedAt }];
      });
    },
    async deleteOlderThan(time) {
      const old = (await listFiles()).filter(({ modifiedAt }) => modifiedAt < time);
      for (const { name } of old) await rm(join(directory, name), { force: true });
      return old.length;
    },
  };
}

function readOrCreateId(directory: string, ids: Ids): string {
  try {
    mkdirSync(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
    linkNewId(directory, ids);
    return z.uuid().parse(readFileSync(join(directory, ID_FILE), "utf8"));
  } catch (thrown) {
    throw new Error(`SPOOL_DIR cannot be used: ${directory}`, { cause: thrown });
  }
}

/** The file is complete before it has its name, so that of two workers that start at the same time one wins. */
function linkNewId(directory: string, ids: Ids): void {
  const draft = join(directory, `${ids.next()}.draft`);
  writeFileSync(draft, ids.next(), { mode: PRIVATE_FILE });
  try {
    linkSync(draft, join(directory, ID_FILE));
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
  } finally {
    rmSync(draft, { force: true });
  }
}

async function writeSynced({ path, draft }: { path: string; draft: string }, chunks: Uint8Array[]): Promise<void> {
  try {
    const file = await openDraft(draft);
    try {
      for (const chunk of chunks) await file.writeFile(chunk);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (thrown) {
    await rm(draft, { force: true });
    throw thrown;
  }
  // A file name is durable only after its directory is synced.
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** The directory is missing only if it was deleted after the start, so it is created when it is. */
async function openDraft(draft: string): Promise<FileHandle> {
  const file = await unlessMissing(open(draft, "wx", PRIVATE_FILE));
  if (file) return file;
  await mkdir(dirname(draft), { recursive: true, mode: PRIVATE_DIRECTORY });
  return open(draft, "wx", PRIVATE_FILE);
}

type SpoolHeader = Omit<SpooledResponse, "response"> & {
  key: string;
  response: JsonObject;
  /** Length of the bytes of each output; null for an output at a URL. */
  lengths: (number | null)[];
};

/** One line of JSON, then the bytes of all outputs. */
function encode(attempt: AttemptRef, { response, ...rest }: SpooledResponse): Uint8Array[] {
  const outputs = response.state === "done" ? response.outputs : [];
  const bytes = outputs.map((output) => ("bytes" in output ? output.bytes : null));
  const header: SpoolHeader = {
    ...rest,
    key: attemptKey(attempt),
    response: { ...response, ...(response.state === "done" && { outputs: outputs.map(omitBytes) }) } as JsonObject,
    lengths: bytes.map((each) => each?.byteLength ?? null),
  };
  return [Buffer.from(`${JSON.stringify(header)}\n`), ...bytes.filter((each) => each !== null)];
}

const omitBytes = (output: ProviderOutput) => ({ ...output, ...("bytes" in output && { bytes: undefined }) });

function decode(attempt: AttemptRef, content: Buffer): SpooledResponse | undefined {
  const end = content.indexOf("\n");
  const { key, lengths, response, ...rest } = parseHeader(content.subarray(0, Math.max(end, 0))) ?? {};
  if (key !== attemptKey(attempt) || !lengths || !response || !rest.offer) return undefined;
  let offset = end + 1;
  const outputs = ((response.outputs ?? []) as JsonObject[]).map((output, index) => {
    const length = lengths[index];
    if (typeof length !== "number") return output;
    offset += length;
    return { ...output, bytes: new Uint8Array(content.subarray(offset - length, offset)) };
  });
  if (offset !== content.byteLength) return undefined;
  const isDone = response.state === "done";
  return {
    ...rest,
    offer: rest.offer,
    response: { ...response, ...(isDone && { outputs }) } as unknown as JobProgress,
  };
}

function parseHeader(line: Buffer): Partial<SpoolHeader> | undefined {
  try {
    return JSON.parse(line.toString("utf8"));
  } catch {
    return undefined;
  }
}

const unlessMissing = async <T>(reading: Promise<T>): Promise<T | undefined> => {
  try {
    return await reading;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw thrown;
  }
};
