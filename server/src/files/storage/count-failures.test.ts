// Failures of a real directory are counted; what the caller did wrong is not.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { countFailures } from "./count-failures.ts";
import { createDiskStorage } from "./disk-storage.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gesso-count-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it("reports an operation that failed, by its name, and passes its error on", async () => {
  const failures: string[] = [];
  // A file where the storage needs a directory.
  const blocked = join(folder, "blocked");
  await writeFile(blocked, "");
  const storage = countFailures(createDiskStorage(blocked), (operation) => failures.push(operation));
  await expect(storage.put("t/a", Buffer.from("x"), "image/png")).rejects.toMatchObject({ code: "storage_failed" });
  expect(failures).toEqual(["put"]);
});

it("reports neither a missing object nor a file that is too large", async () => {
  const failures: string[] = [];
  const storage = countFailures(createDiskStorage(join(folder, "files")), (operation) => failures.push(operation));
  expect(await storage.get("t/missing")).toBeUndefined();
  const stream = (async function* () {
    yield Buffer.from("four");
  })();
  await expect(storage.putStream("t", stream, { mediaType: "image/png", maxBytes: 3 })).rejects.toMatchObject({
    code: "payload_too_large",
  });
  expect(failures).toEqual([]);
});
