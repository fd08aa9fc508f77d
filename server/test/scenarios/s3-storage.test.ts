import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@gesso/client";
import { freePort } from "@gesso/dev/components";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createS3Storage } from "../../src/files/storage/s3-storage.ts";
import { S3_TEST_CREDENTIALS, type S3Server, startS3Server } from "../support/s3-server.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

let environment: TestEnvironment;
let server: Partial<S3Server & { stop(): Promise<void> }> = {};
const bucket = `story-${Date.now()}`;
const open = () =>
  createS3Storage({
    endpoint: server.endpoint!,
    region: "us-east-1",
    bucket,
    credentials: S3_TEST_CREDENTIALS,
    forcePathStyle: true,
  });

beforeAll(async () => {
  const running = process.env.TEST_S3_ENDPOINT;
  server = running
    ? { endpoint: running }
    : await startS3Server(mkdtempSync(join(tmpdir(), "gesso-radosgw-")), await freePort());
  await open().ensureBucket();
  environment = await startTestEnvironment({
    env: {
      STORAGE: "s3",
      S3_ENDPOINT: server.endpoint!,
      S3_BUCKET: bucket,
      S3_ACCESS_KEY_ID: S3_TEST_CREDENTIALS.accessKeyId,
      S3_SECRET_ACCESS_KEY: S3_TEST_CREDENTIALS.secretAccessKey,
    },
  });
});
afterAll(async () => {
  await environment?.stop();
  await server.stop?.();
});

it("stores a run's image in a bucket, serves it whole and in part, and removes it when the run is deleted", async () => {
  const client = createClient({ baseUrl: environment.url, apiKey: environment.key });
  const run = await client.images.generate({ prompt: "in a bucket", width: 96, height: 64 }).wait();
  const keys: string[] = [];
  for await (const object of open().list("t/")) keys.push(object.key);
  // The image and its thumbnail: both sizes of an image as small as this are the same file.
  expect(keys).toHaveLength(2);
  expect(keys.filter((key) => key.endsWith(run.outputs[0]!.sha256))).toHaveLength(1);

  const whole = Buffer.from(await run.image!.bytes());
  expect(whole.length).toBe(run.outputs[0]!.size_bytes);
  const part = await fetch(run.image_url!, { headers: { range: "bytes=-8" } });
  expect(Buffer.from(await part.arrayBuffer())).toEqual(whole.subarray(-8));

  await client.runs.delete(run.run_id);
  const left = async () => {
    for await (const _object of open().list("t/")) return true;
    return false;
  };
  await expect.poll(left).toBe(false);
});
