// Faults that kill no process: PostgreSQL away for minutes, a clock of PostgreSQL that steps, its disk full, suspended
// processes and machines, a vendor that hangs, and more runs than fit. And one run that kills its workers. Each counts
// what it hit.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { ProxyHits } from "../support/tcp-proxy.ts";
import type { ChaosEnvironment } from "./chaos-environment.ts";
import { FAKE_TIME_LIBRARY } from "./fault-kinds.ts";
import type { FaultHits } from "./fault-log.ts";
import { injectPoisonRun } from "./poison-run.ts";
import { createRunRequest } from "./process-kills.ts";
import { type PostedRun, postAtRate } from "./run-load.ts";

export type Outage =
  | { name: "database_away"; seconds: number }
  | { name: "database_clock_stepped"; seconds: number }
  | { name: "database_disk_full"; seconds: number }
  | { name: "processes_suspended"; seconds: number }
  | { name: "machine_suspended"; seconds: number }
  | { name: "vendor_hangs"; seconds: number }
  | { name: "overload"; seconds: number; perSecond: number }
  | { name: "poison_run" };

/** The clock of PostgreSQL, which a campaign can step. */
export type SteppedClock = { postgresEnv: Record<string, string>; step(seconds: number): void };

/** `runs`: those that the fault posted itself. */
export type InjectedOutage = { hits: FaultHits; runs?: PostedRun[] };

export function createSteppedClock(): SteppedClock {
  const folder = mkdtempSync(join(tmpdir(), "gesso-chaos-clock-"));
  const path = join(folder, "offset");
  let offset = 0;
  const write = () => writeFileSync(path, `${offset < 0 ? "" : "+"}${offset}`, { mode: 0o644 });
  write();
  // PostgreSQL runs under an account of its own.
  chmodSync(folder, 0o755);
  return {
    postgresEnv: {
      LD_PRELOAD: FAKE_TIME_LIBRARY,
      FAKETIME_TIMESTAMP_FILE: path,
      FAKETIME_CACHE_DURATION: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    },
    step(seconds) {
      offset += seconds;
      write();
    },
  };
}

export async function injectOutage(
  environment: ChaosEnvironment,
  clock: SteppedClock,
  outage: Outage,
): Promise<InjectedOutage> {
  switch (outage.name) {
    case "database_away":
      return { hits: await removeDatabase(environment, outage.seconds) };
    case "database_clock_stepped":
      return { hits: await stepDatabaseClock(environment, clock, outage.seconds) };
    case "database_disk_full":
      return { hits: await fillDatabaseDisk(environment, outage.seconds) };
    case "machine_suspended":
      return { hits: await suspendMachine(environment, outage.seconds) };
    case "processes_suspended":
      return { hits: await suspendProcesses(environment, outage.seconds) };
    case "vendor_hangs":
      return { hits: await hangVendor(environment, outage.seconds) };
    case "overload":
      return overload(environment, outage);
    case "poison_run":
      return injectPoisonRun(environment);
  }
}

const countRequestsInFlight = async (environment: ChaosEnvironment) => {
  const [row] = await environment.query<{ count: number }>(
    "select count(*)::int from attempts where state = 'intent' and lease_until > now()",
  );
  return row!.count;
};

async function removeDatabase(environment: ChaosEnvironment, seconds: number): Promise<FaultHits> {
  const proxies = [...environment.proxies!.database.values()];
  const sum = (kind: keyof ProxyHits) => proxies.reduce((total, proxy) => total + proxy.hits()[kind], 0);
  const before = sum("refused");
  const requests = await countRequestsInFlight(environment);
  for (const proxy of proxies) {
    proxy.refuse(true);
    proxy.cut();
  }
  await pause(seconds * 1000);
  for (const proxy of proxies) proxy.refuse(false);
  return { "requests in flight": requests, "refused connections": sum("refused") - before };
}

async function stepDatabaseClock(
  environment: ChaosEnvironment,
  clock: SteppedClock,
  seconds: number,
): Promise<FaultHits> {
  const read = async () => {
    const [row] = await environment.query<{ ms: number }>("select (extract(epoch from now()) * 1000)::float as ms");
    return row!.ms - Date.now();
  };
  const before = await read();
  const requests = await countRequestsInFlight(environment);
  clock.step(seconds);
  // The library reads the offset again within a second.
  await pause(3000);
  const isStepped = Math.abs((await read()) - before - seconds * 1000) < 2000;
  await pause(STEPPED_MS);
  return { "requests in flight": requests, [`steps of ${seconds} s`]: isStepped ? 1 : 0 };
}
const STEPPED_MS = 40_000;

/** A file system of its own for PostgreSQL, so that it can be full. Only root can mount one. */
export function mountDatabaseDisk(): { directory: string; unmount(): void } {
  const directory = mkdtempSync(join(tmpdir(), "gesso-chaos-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DATABASE_DISK_MEGABYTES}m,mode=0755`, "tmpfs", directory]);
  return {
    directory,
    unmount() {
      execFileSync("umount", ["--lazy", directory]);
      rmSync(directory, { recursive: true });
    },
  };
}
const DATABASE_DISK_MEGABYTES = 768;

/** No byte is left on the disk of PostgreSQL. It stops when it cannot write its log, and is started until it stays. */
async function fillDatabaseDisk(environment: ChaosEnvironment, seconds: number): Promise<FaultHits> {
  const filler = join(environment.databaseDisk!, "filler");
  const requests = await countRequestsInFlight(environment);
  try {
    execFileSync("dd", ["if=/dev/zero", `of=${filler}`, "bs=1M"], { stdio: "ignore" });
  } catch {
    // It ends with "No space left on device".
  }
  const until = Date.now() + seconds * 1000;
  let refused = 0;
  while (Date.now() < until) {
    const isWritten = await environment
      .query("create table filling as select repeat('x', 1000) from generate_series(1, 100000)")
      .then(() => environment.query("drop table filling"))
      .then(() => true)
      .catch(() => false);
    if (!isWritten) refused++;
    await pause(1000);
  }
  rmSync(filler);
  await environment.killAndRestart("postgres");
  return { "requests in flight": requests, "refused writes": refused };
}

/**
 * The machine of a worker is suspended: its processes stand still, and so do their clocks. Afterwards both are behind
 * by as long as it lasted, until the worker is started again.
 */
async function suspendMachine(environment: ChaosEnvironment, seconds: number): Promise<FaultHits> {
  const folder = mkdtempSync(join(tmpdir(), "gesso-chaos-machine-"));
  const path = join(folder, "offset");
  const setOffset = (offset: number) => writeFileSync(path, `-${offset}`, { mode: 0o644 });
  setOffset(0);
  await environment.kill("worker");
  await environment.start("worker", {
    LD_PRELOAD: FAKE_TIME_LIBRARY,
    FAKETIME_TIMESTAMP_FILE: path,
    FAKETIME_NO_CACHE: "1",
  });
  const pid = environment.pids().worker!;
  const isFaked = readFileSync(`/proc/${pid}/maps`, "utf8").includes("libfaketime");
  await pause(RESUMED_MS);
  const requests = await countRequestsInFlight(environment);
  process.kill(pid, "SIGSTOP");
  await pause(seconds * 1000);
  setOffset(seconds);
  process.kill(pid, "SIGCONT");
  await pause(RESUMED_MS);
  await environment.killAndRestart("worker");
  rmSync(folder, { recursive: true });
  return { "requests in flight": requests, "machines whose clock stood still": isFaked ? 1 : 0 };
}
const RESUMED_MS = 20_000;

/** All server processes stand still while the vendors, the database and the clocks go on. */
async function suspendProcesses(environment: ChaosEnvironment, seconds: number): Promise<FaultHits> {
  const { api, worker, worker2 } = environment.pids();
  const pids = [api!, worker!, worker2!];
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  const requests = await countRequestsInFlight(environment);
  await pause(seconds * 1000);
  for (const pid of pids) process.kill(pid, "SIGCONT");
  return { "requests in flight": requests };
}

/** It accepts jobs and does not respond. Jobs at other vendors go on. */
async function hangVendor({ openai }: ChaosEnvironment, seconds: number): Promise<FaultHits> {
  const before = openai.ledger.length;
  openai.switches.hang = { times: Number.MAX_SAFE_INTEGER, when: "after" };
  await pause(seconds * 1000);
  openai.switches.hang = undefined;
  return { "hung requests": openai.ledger.length - before };
}

async function overload(
  environment: ChaosEnvironment,
  { seconds, perSecond }: { seconds: number; perSecond: number },
): Promise<InjectedOutage> {
  const orders = Array.from({ length: seconds * perSecond }, (_, index) => createRunRequest(index, false));
  const runs = await postAtRate(environment, orders, perSecond);
  return { hits: { runs: runs.length }, runs };
}
