// `npm run bench -- outputs`: large videos of a fake vendor through the whole service. Checks that they are stored byte
// for byte and paid once, also if the worker is killed in the middle or the setting is too low at first, and measures
// the memory of the worker. `--megabytes 1024 --count 8`, and `--s3` to store in a bucket of a real S3 server.
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freePort } from "@gesso/dev/components";
import { createS3Storage } from "../../src/files/storage/s3-storage.ts";
import { drawTestImage } from "../fake-vendors/result-files.ts";
import { fakeRunway } from "../fake-vendors/runway.ts";
import { createLongVideo } from "../support/long-video.ts";
import { S3_TEST_CREDENTIALS, startS3Server } from "../support/s3-server.ts";
import { startTestEnvironment } from "../support/test-environment.ts";

const { values } = parseArgs({
  options: {
    megabytes: { type: "string", default: "1024" },
    count: { type: "string", default: "8" },
    s3: { type: "boolean", default: false },
  },
});
const MEGABYTE = 1024 * 1024;
const sizeBytes = Number(values.megabytes) * MEGABYTE;
const count = Number(values.count);
/** Memory of a worker that stores all of them at once, above what it has at rest. */
const MAX_GROWTH_MEGABYTES = 256;

type FoundRun = { run_id: string; status: string; error: { code: string } | null; outputs: { url: string }[] };

const failures: string[] = [];
const report = (isRight: boolean, text: string) => {
  console.log(`${isRight ? "ok    " : "FAILED"}  ${text}`);
  if (!isRight) failures.push(text);
};

const folder = mkdtempSync(join(tmpdir(), "gesso-bench-outputs-"));
const s3 = values.s3
  ? await startS3Server(join(folder, "rgw"), await freePort(), (count + 2) * Number(values.megabytes))
  : undefined;
const bucket = "gesso-bench";
if (s3) {
  const options = { region: "us-east-1", bucket, credentials: S3_TEST_CREDENTIALS, forcePathStyle: true };
  await createS3Storage({ ...options, endpoint: s3.endpoint }).ensureBucket();
}
const vendor = await fakeRunway.start();
Object.assign(vendor.switches, { result: "long", longBytes: sizeBytes });
const gesso = await startTestEnvironment({
  roles: "split",
  env: {
    ...fakeRunway.env(vendor),
    PROVENANCE: "off",
    ...(s3 && {
      ...{ STORAGE: "s3", S3_ENDPOINT: s3.endpoint, S3_BUCKET: bucket },
      ...{ S3_ACCESS_KEY_ID: S3_TEST_CREDENTIALS.accessKeyId },
      ...{ S3_SECRET_ACCESS_KEY: S3_TEST_CREDENTIALS.secretAccessKey },
    }),
  },
});
const image_url = `data:image/png;base64,${(await drawTestImage("a beach", 256, 144)).toString("base64")}`;
const expectedHash = await (await createLongVideo(sizeBytes)).hash();

const call = async <T>(path: string, body?: object): Promise<T> => {
  const headers = { authorization: `Bearer ${gesso.key}`, "content-type": "application/json" };
  const init = body ? { method: "POST", body: JSON.stringify(body) } : {};
  const response = await fetch(`${gesso.url}/api/v1${path}`, { ...init, headers });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as T;
};
const create = async () => (await call<{ run_id: string }>("/runs/video", { image_url, prompt: "waves" })).run_id;
const read = (runId: string) => call<FoundRun>(`/runs/${runId}`);
const waitFor = async (runId: string): Promise<FoundRun> => {
  for (;;) {
    const run = await read(runId);
    if (!["queued", "processing"].includes(run.status)) return run;
    await pause(500);
  }
};
const residentMegabytes = () => {
  const status = readFileSync(`/proc/${gesso.pids().worker}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024;
};
/** Whether all runs have the bytes of the vendor, read from the API as a client does. */
const areStored = async (runs: FoundRun[]) => {
  for (const run of runs) {
    if (run.status !== "completed") {
      console.log(JSON.stringify(run.error));
      return false;
    }
    const hash = createHash("sha256");
    for await (const chunk of (await fetch(run.outputs[0]!.url)).body!) hash.update(chunk);
    if (hash.digest("hex") !== expectedHash) return false;
  }
  return true;
};
const measure = async <T>(work: () => Promise<T>) => {
  let peak = residentMegabytes();
  const timer = setInterval(() => {
    peak = Math.max(peak, residentMegabytes());
  }, 100);
  const startedAt = performance.now();
  const result = await work();
  clearInterval(timer);
  return { result, peak, seconds: (performance.now() - startedAt) / 1000 };
};
/** Bytes that an unfinished upload has written. */
const unfinishedBytes = () => {
  const temporary = join(gesso.storageDir, "tmp");
  return readdirSync(temporary).reduce((sum, name) => sum + statSync(join(temporary, name)).size, 0);
};

try {
  // A small video first: the worker has loaded everything that it needs.
  vendor.switches.result = "whole";
  await waitFor(await create());
  vendor.switches.result = "long";
  await pause(5000);
  const base = residentMegabytes();
  console.log(`${values.megabytes} MB per video, worker at rest ${base.toFixed(0)} MB`);

  const one = await measure(async () => waitFor(await create()));
  report(await areStored([one.result]), `one video stored byte for byte in ${one.seconds.toFixed(1)} s`);
  console.log(`        worker at most ${one.peak.toFixed(0)} MB`);

  const many = await measure(async () =>
    Promise.all((await Promise.all(Array.from({ length: count }, create))).map(waitFor)),
  );
  report(await areStored(many.result), `${count} at once stored byte for byte in ${many.seconds.toFixed(1)} s`);
  const growth = many.peak - base;
  report(
    growth <= MAX_GROWTH_MEGABYTES,
    `worker at most ${many.peak.toFixed(0)} MB, ${growth.toFixed(0)} MB above rest`,
  );

  if (!s3) {
    const jobs = vendor.ledger.length;
    const killed = await create();
    while (unfinishedBytes() < sizeBytes / 3) await pause(10);
    await gesso.killAndRestart("worker");
    report(await areStored([await waitFor(killed)]), "killed in the middle of a download, the run continued");
    report(vendor.ledger.length === jobs + 1, `the vendor was asked for ${vendor.ledger.length - jobs} job`);
  }

  const restart = async (megabytes: number) => {
    await gesso.kill("worker");
    await gesso.start("worker", { MAX_OUTPUT_MEGABYTES: String(megabytes) });
  };
  const jobs = vendor.ledger.length;
  await restart(Math.floor(Number(values.megabytes) / 2));
  const [raised, overdue] = [await create(), await create()];
  await pause(20_000);
  report((await read(raised)).status === "processing", "above the setting, the run waits");
  await gesso.query("update open_runs set deadline_at = now() where run_id = $1", [overdue]);
  const failed = await waitFor(overdue);
  report(failed.error?.code === "storage_failed", `at its deadline: ${JSON.stringify(failed.error)}`);
  await restart(4096);
  report(await areStored([await waitFor(raised)]), "with a higher setting, the waiting run completed");
  report(vendor.ledger.length === jobs + 2, `the vendor was asked for ${vendor.ledger.length - jobs} jobs`);
} finally {
  await gesso.stop();
  await vendor.close();
  await s3?.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failures.length > 0 ? 1 : 0);
