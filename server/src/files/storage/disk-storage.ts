// Storage in a local directory. An object is written to a temporary file, synced and then renamed, so after a crash it
// is complete or absent.
import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, rmdir, stat, unlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import {
  assertStorageKey,
  assertStoragePrefix,
  type ByteRange,
  hashStream,
  type ListedObject,
  type ObjectStorage,
  probeReadiness,
  TEMPORARY_PREFIX,
  withStorageFault,
} from "./object-storage.ts";

/** Longer than any upload. A younger temporary file may belong to a running process. */
const leftoverAgeMilliseconds = 60 * 60 * 1000;

/** Node's default for files. Times three, so that base64 of a piece leaves no rest. */
const READ_BYTES = 3 * 64 * 1024;

export const createDiskStorage = (dir: string): ObjectStorage => {
  const root = resolve(dir);
  const objects = join(root, "objects");
  const temporary = join(root, TEMPORARY_PREFIX);
  const pathOf = (key: string) => join(objects, assertStorageKey(key));

  const storage: ObjectStorage = {
    put: async (key, bytes) => {
      const path = pathOf(key);
      await withStorageFault("storage_failed", async () => {
        // The first writer may not have synced yet, so this writer syncs too before it reports success.
        if (await fileAt(path)) return syncPath(dirname(path));
        await moveIntoPlace(await writeTemporary(temporary, bytes), path);
      });
    },
    putStream: (prefix, stream, { maxBytes }) => {
      const metered = hashStream(stream, maxBytes);
      const keep = async () => {
        assertStorageKey(prefix);
        const draft = await writeTemporary(temporary, metered.chunks);
        const { sha256, size_bytes } = metered.result();
        const key = `${prefix}/${sha256}`;
        await moveIntoPlace(draft, pathOf(key));
        return { key, sha256, size_bytes };
      };
      return withStorageFault("storage_failed", keep, metered);
    },
    get: async (key, range) => {
      const path = pathOf(key);
      const found = await withStorageFault("asset_unavailable", () => unlessMissing(open(path, "r")));
      return found && withStorageFault("asset_unavailable", () => streamOf(found, range));
    },
    bytes: async (key) => {
      const path = pathOf(key);
      return withStorageFault("asset_unavailable", () => unlessMissing(readFile(path)));
    },
    head: async (key) => {
      const path = pathOf(key);
      const found = await withStorageFault("asset_unavailable", () => fileAt(path));
      return found && { size_bytes: found.size_bytes };
    },
    delete: async (keys) => {
      const paths = keys.map(pathOf);
      await withStorageFault("storage_failed", async () => {
        for (const path of paths) await remove(path, objects);
      });
    },
    list: (prefix) => listBelow(objects, assertStoragePrefix(prefix)),
    maintenance: {
      deleteUnfinished: (before) =>
        withStorageFault("storage_failed", () => deleteOldTemporaryFiles(temporary, before)),
      checkReady: () =>
        probeReadiness(
          storage,
          async () => void (await deleteOldTemporaryFiles(temporary, new Date(Date.now() - leftoverAgeMilliseconds))),
        ),
    },
  };
  return storage;
};

/** Returns undefined if the object does not exist, also if its path is a directory or contains a file. */
const unlessMissing = async <T>(reading: Promise<T>): Promise<T | undefined> => {
  try {
    return await reading;
  } catch (thrown) {
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes(codeOf(thrown))) return undefined;
    throw thrown;
  }
};

const codeOf = (thrown: unknown): string => String((thrown as NodeJS.ErrnoException | undefined)?.code);

const fileAt = async (path: string): Promise<{ size_bytes: number; modified_at: Date } | undefined> => {
  const found = await unlessMissing(stat(path));
  return found?.isFile() ? { size_bytes: found.size, modified_at: found.mtime } : undefined;
};

const streamOf = async (file: FileHandle, range: ByteRange | undefined) => {
  const isFile = await file.stat().then((found) => found.isFile());
  if (isFile)
    return Readable.toWeb(file.createReadStream({ ...range, highWaterMark: READ_BYTES })) as ReadableStream<Uint8Array>;
  await file.close();
  return undefined;
};

const writeTemporary = async (folder: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<string> => {
  const draft = join(folder, randomUUID());
  const file = await openNew(draft);
  try {
    await file.writeFile(content);
    await file.sync();
  } catch (thrown) {
    await file.close();
    await rm(draft, { force: true });
    throw thrown;
  }
  await file.close();
  return draft;
};

/** The directory is missing only before the first object, so it is created when it is. */
const openNew = async (path: string): Promise<FileHandle> => {
  const handle = await unlessMissing(open(path, "wx"));
  if (handle) return handle;
  await mkdir(dirname(path), { recursive: true });
  return open(path, "wx");
};

/** Renames are atomic, and concurrent writes of a key have the same bytes, so readers never see a difference. */
const moveIntoPlace = async (draft: string, path: string): Promise<void> => {
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        await makeFolder(dirname(path));
        await rename(draft, path);
        break;
      } catch (thrown) {
        // A concurrent delete can remove a directory while it is empty. Then the directory is created again. ENOTDIR is
        // how a recursive `mkdir` of Node reports a directory that was removed between its two looks at it.
        if (!["ENOENT", "ENOTDIR"].includes(codeOf(thrown)) || attempt === 20) throw thrown;
      }
    }
  } catch (thrown) {
    await rm(draft, { force: true });
    throw thrown;
  }
  await syncPath(dirname(path));
};

/** A file name is durable only after its directory is synced. The same applies to new directories. */
const makeFolder = async (folder: string): Promise<void> => {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) await syncPath(dirname(made));
};

const syncPath = async (path: string): Promise<void> => {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Also removes directories that become empty. Otherwise every run would leave one behind. */
const remove = async (path: string, objects: string): Promise<void> => {
  await unlessMissing(unlink(path));
  for (let folder = dirname(path); folder.length > objects.length; folder = dirname(folder)) {
    const isGone = await rmdir(folder).then(
      () => true,
      (thrown) => codeOf(thrown) === "ENOENT",
    );
    if (!isGone) return;
  }
};

async function* listBelow(objects: string, prefix: string): AsyncGenerator<ListedObject> {
  const below = async function* (folder: string): AsyncGenerator<ListedObject> {
    const entries = (await unlessMissing(readdir(join(objects, folder), { withFileTypes: true }))) ?? [];
    for (const entry of entries) {
      const key = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (!key.startsWith(prefix)) continue;
      if (entry.isDirectory()) yield* below(key);
      const found = await fileAt(join(objects, key));
      if (found) yield { key, ...found };
    }
  };
  // Starts at the deepest directory of the prefix, so that listing one run does not read all tenants.
  yield* below(prefix.slice(0, Math.max(prefix.lastIndexOf("/"), 0)));
}

const deleteOldTemporaryFiles = async (folder: string, before: Date): Promise<number> => {
  let count = 0;
  for (const name of (await unlessMissing(readdir(folder))) ?? []) {
    const path = join(folder, name);
    const found = await fileAt(path);
    if (!found || found.modified_at >= before) continue;
    await rm(path, { force: true });
    count++;
  }
  return count;
};
