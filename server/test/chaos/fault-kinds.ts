// The faults that a campaign injects besides kills, each through real means: signals, a TCP proxy on the real sockets,
// a bucket policy, and a shifted clock. Each counts what it hit, so that a campaign whose fault hits nothing fails.
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { DeleteBucketPolicyCommand, PutBucketPolicyCommand } from "@aws-sdk/client-s3";
import type { StatementTypes } from "../../src/db/generated/statements.ts";
import { createS3Bucket } from "../../src/files/storage/s3-client.ts";
import { S3_TEST_CREDENTIALS } from "../support/s3-server.ts";
import type { ProxyHits, TcpProxy } from "../support/tcp-proxy.ts";
import type { ProcessName } from "../support/test-environment.ts";
import type { ChaosEnvironment } from "./chaos-environment.ts";
import type { FaultHits } from "./fault-log.ts";

/** Longer than the lease of an attempt: `SUBMIT_SECONDS` of the campaigns, the margin of 5 s, and a moment. */
const STOPPED_MS = 15_000;
const PARTITION_MS = 5000;
/** Longer than the 12 s after which a statement without a response fails. */
const FROZEN_MS = 13_000;
const STORAGE_FAULT_MS = 6000;
const CLOCK_SHIFTED_MS = 8000;
const CLOCK_SHIFT_SECONDS = 600;
export const FAKE_TIME_LIBRARY = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

/** `submitSlowly` posts runs and returns while their submissions are under way. Returns what was hit. */
type Inject = (environment: ChaosEnvironment, submitSlowly: () => Promise<void>) => Promise<FaultHits>;

/** What the faults of these proxies hit while `work` lasts. */
async function countHits(
  proxies: TcpProxy[],
  kinds: (keyof ProxyHits)[],
  work: (hitsSoFar: () => number) => Promise<void>,
): Promise<number> {
  const sum = () => proxies.reduce((total, proxy) => total + kinds.reduce((n, kind) => n + proxy.hits()[kind], 0), 0);
  const before = sum();
  await work(() => sum() - before);
  return sum() - before;
}

/** The worker stops in the middle of its steps, another one takes over, and it continues after its leases expired. */
const stopWorker: Inject = async (environment, submitSlowly) => {
  const { workers, unavailable } = environment.proxies!;
  const pid = environment.pids().worker!;
  unavailable.add("worker2");
  workers.cut();
  await submitSlowly();
  process.kill(pid, "SIGSTOP");
  const [leased] = await environment.query<{ count: number }>(
    "select count(*)::int from attempts where state = 'intent' and lease_until > now()",
  );
  unavailable.add("worker");
  unavailable.delete("worker2");
  workers.cut();
  await pause(STOPPED_MS);
  process.kill(pid, "SIGCONT");
  unavailable.delete("worker");
  return { "requests in flight": leased!.count };
};

const cutDatabase: Inject = async ({ proxies }) => {
  const affected = [...proxies!.database.values()];
  const connections = await countHits(affected, ["cut"], async () => {
    for (const proxy of affected) proxy.cut();
  });
  return { connections };
};

/** The database does not answer the worker any more, and no connection is closed. New connections pass. */
const freezeDatabase: Inject = async ({ proxies }) => {
  const proxy = proxies!.database.get("worker")!;
  const packets = await countHits([proxy], ["dropped"], async () => {
    proxy.freeze();
    await pause(FROZEN_MS);
  });
  return { packets };
};

const delayDatabase: Inject = async ({ proxies }) => {
  const proxy = proxies!.database.get("worker")!;
  const packets = await countHits([proxy], ["delayed"], async () => {
    proxy.delay(300);
    await pause(PARTITION_MS);
    proxy.delay(0);
  });
  return { packets };
};

/** PostgreSQL performs the statement, and the connection is cut before its response arrives. */
const swallowCommits: Inject = async ({ proxies }) => {
  const hits: FaultHits = {};
  for (const { statement, task, processes } of SWALLOWED_REQUESTS) {
    const affected = processes.map((name) => proxies!.database.get(name)!);
    const target = task ? `${statement} of ${task}` : statement;
    const count = await countHits(affected, ["swallowed"], async (soFar) => {
      const matches = (data: Buffer) => names(data, statement) && (task === undefined || data.includes(task));
      for (const proxy of affected) proxy.swallowResponseTo(matches);
      for (let waited = 0; waited < MAX_WAIT_MS && soFar() === 0; waited += POLL_MS) await pause(POLL_MS);
      for (const proxy of affected) proxy.swallowResponseTo(undefined);
    });
    hits[target] = (hits[target] ?? 0) + count;
  }
  return hits;
};
const POLL_MS = 100;
/** Every statement comes many times as often under the load of a campaign, also on a slow machine. */
const MAX_WAIT_MS = 120_000;

/** A prepared statement is called by its name; `@` marks the one under row-level security. */
const names = (data: Buffer, statement: string) => data.includes(`${statement}\0`) || data.includes(`${statement}@\0`);

type SwallowedRequest = {
  statement: keyof StatementTypes;
  /** Only requests of a run with this task. */
  task?: string;
  processes: ProcessName[];
};
/** The statements whose lost response could lose or repeat a paid job. The type refuses one that no longer exists. */
const WORKERS: ProcessName[] = ["worker", "worker2"];
const SWALLOWED_REQUESTS: SwallowedRequest[] = [
  { statement: "runs.accept", processes: ["api"] },
  { statement: "attempts.claim", processes: WORKERS },
  { statement: "runs.accept", task: "image.upscale", processes: ["api"] },
  { statement: "attempts.save_ticket", processes: WORKERS },
  { statement: "attempts.receive_callback", processes: ["api"] },
  { statement: "attempts.save_output", processes: WORKERS },
  { statement: "open_runs.end", processes: WORKERS },
  { statement: "runs.accept", task: "image.upscale", processes: ["api"] },
  { statement: "open_runs.end", processes: WORKERS },
];

/** Neither side of the engine reaches the other; connections stay open and carry nothing. */
const partitionEngine: Inject = async ({ proxies }) => {
  const affected = [...proxies!.ingress, proxies!.workers];
  const packets = await countHits(affected, ["dropped", "refused"], async () => {
    for (const proxy of affected) {
      proxy.refuse(true);
      proxy.freeze();
    }
    await pause(PARTITION_MS);
    for (const proxy of affected) {
      proxy.refuse(false);
      proxy.cut();
    }
  });
  return { packets };
};

const cutStorage: Inject = async ({ proxies }) => {
  const proxy = proxies!.storage!;
  const connections = await countHits([proxy], ["cut", "refused"], async () => {
    proxy.refuse(true);
    proxy.cut();
    await pause(STORAGE_FAULT_MS);
    proxy.refuse(false);
  });
  return { connections };
};

/** The bucket refuses every write, as a bucket that is read-only or over its quota does. */
const denyStorageWrites: Inject = async ({ bucket, proxies }) => {
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
  let denied = 0;
  proxies!.storage!.onResponse((data) => {
    if (data.includes("HTTP/1.1 403 ")) denied++;
  });
  await client.send(new PutBucketPolicyCommand({ Bucket: name, Policy }));
  await pause(STORAGE_FAULT_MS);
  await client.send(new DeleteBucketPolicyCommand({ Bucket: name }));
  client.destroy();
  return { "refused writes": denied };
};

/** One worker's clock is ten minutes ahead, then ten minutes behind. The other worker gets no work meanwhile. */
const shiftClock: Inject = async (environment) => {
  if (!existsSync(FAKE_TIME_LIBRARY)) throw new Error("libfaketime is missing. Run: apt-get install -y faketime");
  const { workers, unavailable, database } = environment.proxies!;
  const hits: FaultHits = {};
  for (const shift of [CLOCK_SHIFT_SECONDS, -CLOCK_SHIFT_SECONDS]) {
    await environment.kill("worker2");
    const FAKETIME = `${shift > 0 ? "+" : ""}${shift}s`;
    // Only the time of day is shifted; timers use the monotonic clock, as on a machine with a wrong date.
    const env = { LD_PRELOAD: FAKE_TIME_LIBRARY, FAKETIME, FAKETIME_DONT_FAKE_MONOTONIC: "1" };
    await environment.start("worker2", env);
    const isShifted = readFileSync(`/proc/${environment.pids().worker2}/maps`, "utf8").includes("libfaketime");
    let claims = 0;
    database.get("worker2")!.onRequest((data) => {
      if (names(data, "attempts.claim")) claims++;
    });
    // The engine keeps its connections, so it would go on with the other worker.
    unavailable.add("worker");
    workers.cut();
    await pause(CLOCK_SHIFTED_MS);
    for (let waited = 0; waited < MAX_WAIT_MS && claims === 0; waited += POLL_MS) await pause(POLL_MS);
    unavailable.delete("worker");
    hits[`claims with ${FAKETIME}`] = isShifted ? claims : 0;
  }
  await environment.killAndRestart("worker2");
  return hits;
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
