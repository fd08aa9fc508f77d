// Faults that kill no process: PostgreSQL away for minutes, a clock of PostgreSQL that steps, suspended processes, a
// vendor that hangs, and more runs than fit. And one run that kills its workers. Each counts what it hit.
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
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
  | { name: "processes_suspended"; seconds: number }
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

/** All server processes stand still, as on a machine that was suspended, while the vendors and the database go on. */
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
