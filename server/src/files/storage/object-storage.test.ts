import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CreateMultipartUploadCommand,
  GetBucketLifecycleConfigurationCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { freePort } from "@gesso/dev/components";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { S3_TEST_CREDENTIALS, type S3Server, startS3Server } from "../../../test/support/s3-server.ts";
import { createDiskStorage } from "./disk-storage.ts";
import { storageContract } from "./object-storage.contract.ts";
import { assetKey, type ObjectStorage } from "./object-storage.ts";
import { createS3Bucket } from "./s3-client.ts";
import { copyObject } from "./s3-copy.ts";
import { createS3Storage } from "./s3-storage.ts";

let folder = "";
let server: S3Server & { stop?: () => Promise<void> };
const bucket = `gesso-${randomUUID().slice(0, 8)}`;
const s3Options = () => ({
  ...{ endpoint: server.endpoint, region: "us-east-1", bucket, forcePathStyle: true },
  credentials: S3_TEST_CREDENTIALS,
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gesso-storage-"));
  const running = process.env.TEST_S3_ENDPOINT;
  server = running
    ? { endpoint: running, ...S3_TEST_CREDENTIALS }
    : await startS3Server(join(folder, "rgw"), await freePort());
  await createS3Storage(s3Options()).ensureBucket();
});

afterAll(async () => {
  await server?.stop?.();
  await rm(folder, { recursive: true, force: true });
});

const opened = new Map<string, ObjectStorage>();
const once = (name: string, open: () => ObjectStorage) => () => {
  const storage = opened.get(name) ?? open();
  opened.set(name, storage);
  return storage;
};
const disk = once("disk", () => createDiskStorage(join(folder, "disk")));
const s3 = once("s3", () => createS3Storage(s3Options()));

storageContract("storage on disk", disk);
storageContract("storage in a bucket", s3);

describe("storage on disk", () => {
  test("leaves no temporary file behind, whether a put succeeded or not", async () => {
    await disk().put(`t/${randomUUID()}/x`, randomBytes(10), "image/png");
    await disk()
      .putStream(`t/${randomUUID()}`, [randomBytes(10)] as never, { mediaType: "image/png", maxBytes: 5 })
      .catch(() => undefined);
    expect(await readdir(join(folder, "disk", "tmp"))).toEqual([]);
  });

  test("leaves no empty folder behind after the last object is deleted", async () => {
    const storage = createDiskStorage(join(folder, "tidy"));
    await storage.put("t/a/r/b/c", randomBytes(10), "image/png");
    await storage.put("t/a/r/d/e", randomBytes(10), "image/png");
    await storage.delete(["t/a/r/b/c"]);
    expect(await readdir(join(folder, "tidy", "objects", "t", "a", "r"))).toEqual(["d"]);
    await storage.delete(["t/a/r/d/e"]);
    expect(await readdir(join(folder, "tidy", "objects"))).toEqual([]);
  });

  test("stores every object while the last other object of its folder is deleted", async () => {
    const storage = createDiskStorage(join(folder, "busy"));
    const storeAndDelete = async () => {
      for (let count = 0; count < 300; count++) {
        const key = `t/a/r/${randomUUID()}`;
        await storage.put(key, randomBytes(10), "image/png");
        await storage.delete([key]);
      }
    };
    await Promise.all(Array.from({ length: 8 }, storeAndDelete));
    expect(await readdir(join(folder, "busy", "objects"))).toEqual([]);
  });

  test("removes old temporary files during the readiness check, and keeps those in use", async () => {
    const storage = createDiskStorage(join(folder, "swept"));
    await storage.maintenance.checkReady();
    const drafts = join(folder, "swept", "tmp");
    await writeFile(join(drafts, "crashed"), "half");
    await writeFile(join(drafts, "at-work"), "half");
    const longAgo = new Date(Date.now() - 2 * 60 * 60 * 1000);
    await utimes(join(drafts, "crashed"), longAgo, longAgo);
    await storage.maintenance.checkReady();
    expect(await readdir(drafts)).toEqual(["at-work"]);
  });

  test("is not ready if it cannot write", async () => {
    await writeFile(join(folder, "a-file"), "");
    await expect(createDiskStorage(join(folder, "a-file")).maintenance.checkReady()).rejects.toMatchObject({
      code: "dependency_unavailable",
    });
  });
});

describe("storage in a bucket", () => {
  test("leaves no temporary object and no open upload behind", async () => {
    const { client } = createS3Bucket(s3Options());
    const uploads = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
    expect(uploads.Uploads ?? []).toEqual([]);
    const objects = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: "tmp/" }));
    expect(objects.Contents ?? []).toEqual([]);
  });

  test("creates a bucket that removes unfinished uploads, and can create it again", async () => {
    await Promise.all([createS3Storage(s3Options()).ensureBucket(), createS3Storage(s3Options()).ensureBucket()]);
    const { client } = createS3Bucket(s3Options());
    const found = await client.send(new GetBucketLifecycleConfigurationCommand({ Bucket: bucket }));
    expect(found.Rules).toMatchObject([{ Status: "Enabled", Expiration: { Days: 1 } }]);
  });

  test("copies a large object in parts, and leaves no part behind if the original is gone", async () => {
    const s3Bucket = createS3Bucket(s3Options());
    const part = 5 * 1024 * 1024;
    const content = randomBytes(2 * part + 7);
    const from = `t/${randomUUID()}/x`;
    await s3().put(from, content, "video/mp4");
    const to = { key: assetKey("copies", randomUUID(), "1".repeat(64)), size_bytes: content.byteLength };
    await copyObject(s3Bucket, { from, to, mediaType: "video/mp4" }, part);
    expect(Buffer.from((await s3().bytes(to.key))!).equals(content)).toBe(true);
    const missing = { from: `t/${randomUUID()}/x`, to: { ...to, key: `${to.key}2` }, mediaType: "video/mp4" };
    await expect(copyObject(s3Bucket, missing, part)).rejects.toThrow();
    const uploads = await s3Bucket.client.send(
      new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: "t/copies/" }),
    );
    expect([uploads.Uploads ?? [], await s3().head(missing.to.key)]).toEqual([[], undefined]);
  });

  test("distinguishes a missing bucket from a missing object, and never creates one on its own", async () => {
    const nowhere = createS3Storage({ ...s3Options(), bucket: "gesso-nowhere" });
    await expect(nowhere.get("t/x")).rejects.toMatchObject({ code: "asset_unavailable" });
    await expect(nowhere.put("t/x", randomBytes(1), "image/png")).rejects.toMatchObject({ code: "storage_failed" });
    await expect(nowhere.maintenance.checkReady()).rejects.toMatchObject({ code: "dependency_unavailable" });
  });

  test("refuses requests without a credential: none reads, lists, writes or deletes", async () => {
    const key = `t/${randomUUID()}/r/${randomUUID()}/x`;
    await s3().put(key, Buffer.from("private"), "image/png");
    const request = async (method: string, path: string, body?: string) => {
      const response = await fetch(`${server.endpoint}/${bucket}${path}`, { method, ...(body && { body }) });
      return { status: response.status, hasObject: /private|<Key>/.test(await response.text()) };
    };
    const refused = { status: 403, hasObject: false };
    for (const path of [`/${key}`, "", "?list-type=2", "?list-type=2&prefix=t/", "?uploads", "?policy", "?acl"])
      expect(await request("GET", path), path).toEqual(refused);
    for (const path of [`/${key}`, "/t/planted", "/tmp/planted", "?acl"])
      expect(await request("PUT", path, "planted"), path).toEqual(refused);
    for (const path of [`/${key}`, ""]) expect(await request("DELETE", path), path).toEqual(refused);
    expect(await new Response(await s3().get(key)).text()).toBe("private");
  });

  test("is not ready with a wrong secret", async () => {
    const withWrongKey = createS3Storage({
      ...s3Options(),
      credentials: { ...S3_TEST_CREDENTIALS, secretAccessKey: "wrong" },
    });
    await expect(withWrongKey.maintenance.checkReady()).rejects.toMatchObject({ code: "dependency_unavailable" });
  });

  test("is not ready if the server is unreachable", async () => {
    const silent = createS3Storage({ ...s3Options(), endpoint: `http://127.0.0.1:${await freePort()}` });
    await expect(silent.maintenance.checkReady()).rejects.toMatchObject({ code: "dependency_unavailable" });
  });
});

describe("an unfinished upload", () => {
  test("is removed from a bucket with its parts, and nothing else is", async () => {
    const { client } = createS3Bucket(s3Options());
    const begin = async (Key: string) => {
      const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key }));
      const part = { Bucket: bucket, Key, UploadId, PartNumber: 1, Body: randomBytes(5 * 1024 * 1024) };
      await client.send(new UploadPartCommand(part));
    };
    const [ours, others] = [`tmp/${randomUUID()}`, `elsewhere/${randomUUID()}`];
    const copied = assetKey(randomUUID(), randomUUID(), "0".repeat(64));
    await begin(ours);
    await begin(copied);
    await begin(others);
    const left = `tmp/${randomUUID()}`;
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: left, Body: "half" }));
    const kept = `t/${randomUUID()}/x`;
    await s3().put(kept, randomBytes(10), "image/png");
    const open = async () => {
      const uploads = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
      const objects = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: "tmp/" }));
      return [uploads.Uploads ?? [], objects.Contents ?? []].flat().map(({ Key }) => Key);
    };
    expect(await s3().maintenance.deleteUnfinished(new Date(Date.now() - 60_000))).toBe(0);
    expect(await open()).toEqual(expect.arrayContaining([ours, copied, others, left]));
    expect(await s3().maintenance.deleteUnfinished(new Date(Date.now() + 60_000))).toBe(3);
    expect(await open()).toEqual([others]);
    expect(await s3().head(kept)).toMatchObject({ size_bytes: 10 });
  });

  test("is removed from a folder when it is old enough", async () => {
    const storage = createDiskStorage(join(folder, "unfinished"));
    await storage.put("t/a/b", randomBytes(10), "image/png");
    await writeFile(join(folder, "unfinished", "tmp", "draft"), "half");
    expect(await storage.maintenance.deleteUnfinished(new Date(Date.now() - 60_000))).toBe(0);
    expect(await storage.maintenance.deleteUnfinished(new Date(Date.now() + 60_000))).toBe(1);
    expect(await readdir(join(folder, "unfinished", "tmp"))).toEqual([]);
    expect(await storage.head("t/a/b")).toMatchObject({ size_bytes: 10 });
  });
});

describe("a bucket without configured keys", () => {
  test("is opened with the role of the container, as its credential endpoint gives it", async () => {
    let requests = 0;
    const endpoint = createServer((_, response) => {
      requests++;
      // The test server has no session tokens, so this role has an empty one.
      const keys = {
        AccessKeyId: S3_TEST_CREDENTIALS.accessKeyId,
        SecretAccessKey: S3_TEST_CREDENTIALS.secretAccessKey,
      };
      const expiry = new Date(Date.now() + 3_600_000).toISOString();
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ ...keys, Token: "", Expiration: expiry }));
    });
    await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
    const { port } = endpoint.address() as AddressInfo;
    vi.stubEnv("AWS_CONTAINER_CREDENTIALS_FULL_URI", `http://127.0.0.1:${port}/role`);
    try {
      const storage = createS3Storage({ ...s3Options(), credentials: undefined });
      await storage.maintenance.checkReady();
      expect(requests).toBe(1);
    } finally {
      vi.unstubAllEnvs();
      endpoint.close();
    }
  });
});
