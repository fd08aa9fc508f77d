// The faults that a campaign injects besides kills, each through real means: signals, a TCP proxy on the real sockets,
// a bucket policy, and a shifted clock.
import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { DeleteBucketPolicyCommand, PutBucketPolicyCommand } from "@aws-sdk/client-s3";
import { createS3Bucket } from "../../src/storage/s3-client.ts";
import { S3_TEST_CREDENTIALS } from "../support/s3-server.ts";
import type { ChaosEnvironment } from "./chaos-environment.ts";

/** Longer than the lease of an attempt: `SUBMIT_SECONDS` of the campaigns, the margin of 5 s, and a moment. */
const STOPPED_MS = 15_000;
const PARTITION_MS = 5000;
/** Longer than the 12 s after which a statement without a response fails. */
const FROZEN_MS = 13_000;
const STORAGE_FAULT_MS = 6000;
const CLOCK_SHIFTED_MS = 8000;
const CLOCK_SHIFT_SECONDS = 600;
const FAKE_TIME_LIBRARY = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

/** `submitSlowly` posts runs and returns while their submissions are under way. */
type Inject = (environment: ChaosEnvironment, submitSlowly: () => Promise<void>) => Promise<void>;

/** The worker stops in the middle of its steps, another one takes over, and it continues after its leases expired. */
const stopWorker: Inject = async (environment, submitSlowly) => {
  const { workers, unavailable } = environment.proxies!;
  const pid = environment.pids().worker!;
  unavailable.add("worker2");
  workers.cut();
  await submitSlowly();
  process.kill(pid, "SIGSTOP");
  unavailable.add("worker");
  unavailable.delete("worker2");
  workers.cut();
  await pause(STOPPED_MS);
  process.kill(pid, "SIGCONT");
  unavailable.delete("worker");
};

const cutDatabase: Inject = async ({ proxies }) => {
  for (const proxy of proxies!.database.values()) proxy.cut();
};

/** The database does not answer the worker any more, and no connection is closed. New connections pass. */
const freezeDatabase: Inject = async ({ proxies }) => {
  proxies!.database.get("worker")!.freeze();
  await pause(FROZEN_MS);
};

const delayDatabase: Inject = async ({ proxies }) => {
  const proxy = proxies!.database.get("worker")!;
  proxy.delay(300);
  await pause(PARTITION_MS);
  proxy.delay(0);
};

/** PostgreSQL performs the statement, and the connection is cut before its response arrives. */
const swallowCommits: Inject = async ({ proxies }) => {
  for (const [name, text] of SWALLOWED_REQUESTS) {
    proxies!.database.get(name)!.swallowResponseTo(text);
    await pause(1500);
  }
};
/** The process and a text of the request: the name of a statement, or the task of a run with an inline image. */
const SWALLOWED_REQUESTS = [
  ["api", "runs.insert"],
  ["worker", "attempts.claim"],
  ["api", "image.upscale"],
  ["worker", "attempts.save_ticket"],
  ["worker", "attempts.save_output"],
  ["api", "image.upscale"],
  ["worker2", "open_runs.end"],
] as const;

/** Neither side of the engine reaches the other; connections stay open and carry nothing. */
const partitionEngine: Inject = async ({ proxies }) => {
  const affected = [...proxies!.ingress, proxies!.workers];
  for (const proxy of affected) {
    proxy.refuse(true);
    proxy.freeze();
  }
  await pause(PARTITION_MS);
  for (const proxy of affected) {
    proxy.refuse(false);
    proxy.cut();
  }
};

const cutStorage: Inject = async ({ proxies }) => {
  proxies!.storage!.refuse(true);
  proxies!.storage!.cut();
  await pause(STORAGE_FAULT_MS);
  proxies!.storage!.refuse(false);
};

/** The bucket refuses every write, as a bucket that is read-only or over its quota does. */
const denyStorageWrites: Inject = async ({ bucket }) => {
  const { endpoint, name } = bucket!;
  const options = {
    endpoint,
    region: "us-east-1",
    bucket: name,
    credentials: S3_TEST_CREDENTIALS,
    forcePathStyle: true,
  };
  const { client } = createS3Bucket(options);
  const statement = { Effect: "Deny", Principal: "*", Action: "s3:PutObject", Resource: `arn:aws:s3:::${name}/*` };
  const Policy = JSON.stringify({ Version: "2012-10-17", Statement: [statement] });
  await client.send(new PutBucketPolicyCommand({ Bucket: name, Policy }));
  await pause(STORAGE_FAULT_MS);
  await client.send(new DeleteBucketPolicyCommand({ Bucket: name }));
  client.destroy();
};

/** One worker's clock is ten minutes ahead, then ten minutes behind. */
const shiftClock: Inject = async (environment) => {
  if (!existsSync(FAKE_TIME_LIBRARY)) throw new Error("libfaketime is missing. Run: apt-get install -y faketime");
  for (const shift of [CLOCK_SHIFT_SECONDS, -CLOCK_SHIFT_SECONDS]) {
    await environment.kill("worker2");
    const FAKETIME = `${shift > 0 ? "+" : ""}${shift}s`;
    // Only the time of day is shifted; timers use the monotonic clock, as on a machine with a wrong date.
    const env = { LD_PRELOAD: FAKE_TIME_LIBRARY, FAKETIME, FAKETIME_DONT_FAKE_MONOTONIC: "1" };
    await environment.start("worker2", env);
    await pause(CLOCK_SHIFTED_MS);
  }
  await environment.killAndRestart("worker2");
};

export const FAULT_KINDS = {
  stopped_worker: stopWorker,
  database_cut: cutDatabase,
  database_frozen: freezeDatabase,
  database_slow: delayDatabase,
  commit_swallowed: swallowCommits,
  engine_partition: partitionEngine,
  storage_cut: cutStorage,
  storage_read_only: denyStorageWrites,
  clock_shifted: shiftClock,
} satisfies Record<string, Inject>;

export type FaultName = keyof typeof FAULT_KINDS;
