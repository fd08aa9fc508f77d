import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createFileCache } from "./file-cache.ts";

const root = mkdtempSync(join(tmpdir(), "gesso-files-"));
const folder = join(root, "dist");
beforeAll(() => {
  mkdirSync(join(folder, "assets"), { recursive: true });
  writeFileSync(join(root, "secret.txt"), "secret");
  writeFileSync(join(folder, "index.html"), "<!doctype html>");
  writeFileSync(join(folder, ".env"), "secret");
  writeFileSync(join(folder, "assets", "main-abc.js"), "x".repeat(5000));
  symlinkSync(join(root, "secret.txt"), join(folder, "assets", "link.txt"));
  symlinkSync(root, join(folder, "outside"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

it("reads a file with its media type, and compresses a large text", async () => {
  const cache = createFileCache(folder);
  expect(await cache.read("index.html")).toMatchObject({
    mediaType: "text/html; charset=utf-8",
    bytes: Buffer.from("<!doctype html>"),
    compressed: undefined,
  });
  const script = (await cache.read("assets/main-abc.js"))!;
  expect(script.mediaType).toBe("text/javascript; charset=utf-8");
  expect(gunzipSync(script.compressed!)).toEqual(script.bytes);
});

it("reads nothing outside the folder, by a path or a symbolic link, and no hidden file", async () => {
  const cache = createFileCache(folder);
  for (const path of [
    ...["../secret.txt", "assets/../../secret.txt", "..%2fsecret.txt", "assets\\..\\..\\secret.txt", "/etc/passwd"],
    ...["./index.html", "assets//main-abc.js", ".env", "assets", "", "missing.js", "index.html\0.js"],
    ...["assets/link.txt", "outside/secret.txt"],
  ])
    expect([path, await cache.read(path)]).toEqual([path, undefined]);
});

it("reads a changed file again", async () => {
  const cache = createFileCache(folder);
  writeFileSync(join(folder, "page.txt"), "one");
  const first = await cache.read("page.txt");
  expect(await cache.read("page.txt")).toBe(first);
  writeFileSync(join(folder, "page.txt"), "two");
  utimesSync(join(folder, "page.txt"), 1, 1);
  expect((await cache.read("page.txt"))?.bytes.toString()).toBe("two");
});

it("keeps no more bytes in memory than its limit, and serves files above it", async () => {
  const cache = createFileCache(folder, 12_000);
  const script = await cache.read("assets/main-abc.js");
  expect(await cache.read("assets/main-abc.js")).toBe(script);
  writeFileSync(join(folder, "other.txt"), "y".repeat(2000));
  await cache.read("other.txt");
  expect(await cache.read("assets/main-abc.js")).not.toBe(script);
  writeFileSync(join(folder, "large.txt"), "z".repeat(7000));
  expect((await cache.read("large.txt"))?.bytes).toHaveLength(7000);
  expect(await cache.read("large.txt")).not.toBe(await cache.read("large.txt"));
});
