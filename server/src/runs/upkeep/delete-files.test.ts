// The deletion of a run removes every file below its prefix, and nothing else.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { v7 } from "uuid";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createDiskStorage } from "../../files/storage/disk-storage.ts";
import { assetKey, type ObjectStorage } from "../../files/storage/object-storage.ts";
import { deleteFiles } from "./delete-files.ts";

const [tenant, run, other] = [v7(), v7(), v7()];
let folder: string;
let storage: ObjectStorage;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gesso-delete-"));
  storage = createDiskStorage(folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

const store = async (runId: string, digit: string) => {
  const key = assetKey(tenant, runId, digit.repeat(64));
  await storage.put(key, Buffer.from(digit), "image/png");
  return key;
};
const listAll = async () => {
  const keys: string[] = [];
  for await (const { key } of storage.list("t/")) keys.push(key);
  return keys.sort();
};

it("a signed copy without a row is deleted with its run, and files of other runs stay", async () => {
  const [row, stays] = [await store(run, "a"), await store(other, "c")];
  await store(run, "b");
  await deleteFiles(storage, { keys: [row], run_prefix: `t/${tenant}/r/${run}/` });
  expect(await listAll()).toEqual([stays]);
});

it("without a prefix, only the listed files are deleted", async () => {
  const [first, second] = [await store(run, "a"), await store(run, "b")];
  await deleteFiles(storage, { keys: [first] });
  expect(await listAll()).toEqual([second]);
});

it.each(["t/", "", `t/${tenant}/`, `t/${tenant}/r/`, `t/${tenant}/r/${run}`, `t/${tenant}/archive/`])(
  "%j is not the prefix of a run, and nothing is deleted",
  async (run_prefix) => {
    const key = await store(run, "a");
    await expect(deleteFiles(storage, { keys: [key], run_prefix })).rejects.toMatchObject({ code: "internal_error" });
    expect(await listAll()).toEqual([key]);
  },
);
