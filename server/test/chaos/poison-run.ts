// A run whose result kills the worker that stores it, as one that exhausts the memory does. The campaign kills the
// process that has marked the run on its disk, until the run is in quarantine; then an operator retries it.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createHttpCaller } from "../support/api-caller.ts";
import type { ProcessName } from "../support/test-environment.ts";
import type { ChaosEnvironment } from "./chaos-environment.ts";
import type { FaultHits } from "./fault-log.ts";
import { type PostedRun, postRun } from "./run-load.ts";

/** A run that is not in quarantine after so many deaths, or after so long, fails the campaign. */
const MAX_DEATHS = 8;
const MAX_SECONDS = 180;
/** A result may be stored just before its worker is killed; then the run completes, and another one is tried. */
const MAX_RUNS = 5;
const LOOK_MS = 5;
const DOWN_MS = 1000;
/** A mark exists while the result is stored; an image of this size takes long enough for the campaign to see it. */
const SIDE = 2048;
const WORKERS: ProcessName[] = ["worker", "worker2"];

export async function injectPoisonRun(environment: ChaosEnvironment): Promise<{ runs: PostedRun[]; hits: FaultHits }> {
  const runs: PostedRun[] = [];
  let [deaths, isQuarantined] = [0, false];
  while (!isQuarantined && runs.length < MAX_RUNS) {
    const run = await postRun(environment, { class: "A", prompt: "poison", side: SIDE });
    runs.push(run);
    const outcome = await killStoringWorkers(environment, run.run_id);
    deaths += outcome.deaths;
    isQuarantined = outcome.isQuarantined;
  }
  if (isQuarantined) await createHttpCaller(environment).post(`/admin/runs/${runs.at(-1)!.run_id}/retry`, {});
  return { runs, hits: { deaths, "quarantined runs": isQuarantined ? 1 : 0 } };
}

async function killStoringWorkers(environment: ChaosEnvironment, runId: string) {
  const until = Date.now() + MAX_SECONDS * 1000;
  let [deaths, isQuarantined, hasEnded] = [0, false, false];
  while (!isQuarantined && !hasEnded && deaths < MAX_DEATHS && Date.now() < until) {
    const worker = findStoringWorker(environment, runId);
    if (worker) {
      deaths++;
      await environment.killAndRestart(worker, DOWN_MS);
    } else await pause(LOOK_MS);
    isQuarantined = deaths > 0 && (await isInQuarantine(environment, runId));
    hasEnded = await isEnded(environment, runId);
  }
  return { deaths, isQuarantined };
}

const isEnded = async (environment: ChaosEnvironment, runId: string) =>
  (await environment.query("select 1 from open_runs where run_id = $1", [runId])).length === 0;

async function isInQuarantine(environment: ChaosEnvironment, runId: string): Promise<boolean> {
  const entries = await environment.query(
    "select 1 from audit_log where action = 'admin.quarantine' and subject = $1 limit 1",
    [runId],
  );
  return entries.length > 0;
}

/** The worker whose marks contain the run. A mark is a file in the directory of its process. */
function findStoringWorker({ spoolDir, pids }: ChaosEnvironment, runId: string): ProcessName | undefined {
  const marks = join(spoolDir, "marks");
  const process = list(marks).find((name) => list(join(marks, name)).some((file) => file.startsWith(runId)));
  if (process === undefined) return undefined;
  const inode = findSocketInode(join(spoolDir, `${process}.sock`));
  return WORKERS.find((worker) => inode !== undefined && holdsSocket(pids()[worker]!, inode));
}

const list = (directory: string): string[] => {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
};

function findSocketInode(path: string): string | undefined {
  const line = readFileSync("/proc/net/unix", "utf8")
    .split("\n")
    .find((each) => each.endsWith(` ${path}`));
  return line?.trim().split(/\s+/)[6];
}

function holdsSocket(pid: number, inode: string): boolean {
  const descriptors = `/proc/${pid}/fd`;
  return list(descriptors).some((descriptor) => {
    try {
      return readlinkSync(join(descriptors, descriptor)) === `socket:[${inode}]`;
    } catch {
      return false;
    }
  });
}
