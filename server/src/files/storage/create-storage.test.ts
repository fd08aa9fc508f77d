import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../runtime/system-clock.ts";
import { createStorage, StorageEnv } from "./create-storage.ts";

test("stores files in a folder by default", async () => {
  expect(StorageEnv.parse({})).toMatchObject({ STORAGE: "disk", STORAGE_DIR: ".gesso/storage" });
  const folder = await mkdtemp(join(tmpdir(), "gesso-open-"));
  const storage = createStorage(StorageEnv.parse({ STORAGE_DIR: folder }), systemClock);
  await storage.maintenance.checkReady();
  expect(storage.ensureBucket).toBeUndefined();
  await rm(folder, { recursive: true });
});

test("refuses a bucket without its name, and one key without the other", () => {
  const whole = { STORAGE: "s3", S3_BUCKET: "b", S3_ACCESS_KEY_ID: "k", S3_SECRET_ACCESS_KEY: "s" };
  expect(createStorage(StorageEnv.parse(whole), systemClock).ensureBucket).toBeTypeOf("function");
  for (const name of ["S3_BUCKET", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"]) {
    expect(() => createStorage(StorageEnv.parse({ ...whole, [name]: undefined }), systemClock)).toThrow(
      "needs S3_BUCKET",
    );
  }
  const { S3_ACCESS_KEY_ID: _id, S3_SECRET_ACCESS_KEY: _secret, ...withRole } = whole;
  expect(createStorage(StorageEnv.parse(withRole), systemClock).ensureBucket).toBeTypeOf("function");
});

test("refuses invalid settings", () => {
  for (const wrong of [{ STORAGE: "tape" }, { S3_ENDPOINT: "ftp://x" }, { S3_FORCE_PATH_STYLE: "perhaps" }]) {
    expect(StorageEnv.safeParse(wrong).success).toBe(false);
  }
});

test("describes every setting", () => {
  for (const field of Object.values(StorageEnv.shape)) expect(field.description).toMatch(/\.$/);
});
