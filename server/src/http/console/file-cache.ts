// Reads the files of one folder, and keeps up to 32 MiB of them in memory. A path that leads out of the folder, by its
// text or by a symbolic link, does not exist. A file that changed is read again.
import { createHash } from "node:crypto";
import { readFile, realpath, stat } from "node:fs/promises";
import { extname, join, sep } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

const MAX_CACHED_BYTES = 32 * 1024 * 1024;
const MIN_COMPRESSED_BYTES = 1024;
/** Names that begin with a dot are never served, so no segment is `.` or `..`. */
const PATH = /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

const MEDIA_TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".ico": "image/x-icon",
  ".png": "image/png",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
};
const COMPRESSIBLE = [".html", ".js", ".css", ".json", ".map", ".svg", ".txt"];

export type CachedFile = {
  mediaType: string;
  etag: string;
  bytes: Buffer<ArrayBuffer>;
  /** Undefined if compressing gains nothing. */
  compressed: Buffer<ArrayBuffer> | undefined;
};

export type FileCache = {
  /** Undefined if there is no such file in the folder. `path` is relative, with `/`. */
  read(path: string): Promise<CachedFile | undefined>;
};

type Entry = { version: string; size: number; file: Promise<CachedFile | undefined> };

export function createFileCache(folder: string, maxBytes = MAX_CACHED_BYTES): FileCache {
  const entries = new Map<string, Entry>();
  let cachedBytes = 0;
  const forget = (path: string) => {
    cachedBytes -= entries.get(path)?.size ?? 0;
    entries.delete(path);
  };

  return {
    async read(path) {
      if (!PATH.test(path)) return undefined;
      const found = await stat(join(folder, path)).catch(() => undefined);
      if (!found?.isFile()) return undefined;
      const version = `${found.mtimeMs} ${found.size}`;
      const known = entries.get(path);
      if (known?.version === version) return known.file;
      forget(path);
      const file = loadFile(folder, path);
      // The compressed form is smaller than the file.
      const size = 2 * found.size;
      if (size > maxBytes) return file;
      entries.set(path, { version, size, file });
      cachedBytes += size;
      while (cachedBytes > maxBytes) forget(entries.keys().next().value!);
      file.then(
        (loaded) => loaded ?? forget(path),
        () => forget(path),
      );
      return file;
    },
  };
}

async function loadFile(folder: string, path: string): Promise<CachedFile | undefined> {
  const target = await realpath(join(folder, path));
  if (!target.startsWith(`${await realpath(folder)}${sep}`)) return undefined;
  const bytes = await readFile(target);
  const extension = extname(path);
  const isCompressed = COMPRESSIBLE.includes(extension) && bytes.length >= MIN_COMPRESSED_BYTES;
  return {
    mediaType: MEDIA_TYPES[extension] ?? "application/octet-stream",
    etag: createHash("sha256").update(bytes).digest("base64url").slice(0, 22),
    bytes,
    compressed: isCompressed ? await promisify(gzip)(bytes) : undefined,
  };
}
