// A part is a child process that Gesso stands on. It writes to a log file, it is ready when `spawnPart` returns,
// and it never outlives the process that started it.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, fstatSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { leashed } from "./leash.ts";
import { logTail } from "./log-tail.ts";
import { until } from "./probe.ts";

export type Part = {
  name: string;
  pid: number;
  url: string;
  /** Sends the signal (SIGKILL unless told) and resolves when the process is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Asks politely, and after ten seconds no longer politely. */
  stop(): Promise<void>;
  /** Resolves with the exit code, or null when a signal ended it. */
  exited: Promise<number | null>;
  /** Path of the log file. */
  log: string;
};

export type PartPlan = {
  name: string;
  url: string;
  command: string[];
  log: string;
  environment: Record<string, string>;
  directory: string;
  probe: () => Promise<boolean>;
  user?: { uid: number; gid: number };
  stopSignal?: NodeJS.Signals;
  readySeconds?: number;
};

const STOP_MILLISECONDS = 10_000;

export async function spawnPart(plan: PartPlan): Promise<Part> {
  mkdirSync(plan.directory, { recursive: true });
  mkdirSync(dirname(plan.log), { recursive: true });
  const log = openSync(plan.log, "a", 0o600);
  const start = fstatSync(log).size;
  const [file, parameters] = leashed(plan.command);
  // Detached: Ctrl-C reaches a whole process group, and would stop the parts in no order.
  const child = spawn(file, parameters, {
    cwd: plan.directory,
    env: plan.environment,
    stdio: ["pipe", log, log],
    detached: true,
    ...plan.user,
  });
  closeSync(log);

  const part = toPart(plan, child);
  const isGone = () => child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
  const seconds = plan.readySeconds ?? 30;
  if (await until(plan.probe, seconds, isGone)) return part;

  const what = isGone() ? `ended (code ${await part.exited}) before it was ready` : `was not ready after ${seconds} s`;
  if (!isGone()) await part.kill();
  throw new Error(`${plan.name} ${what}. The last lines of ${plan.log}:\n${logTail(plan.log, start)}`);
}

function toPart(plan: PartPlan, child: ChildProcess): Part {
  const exited = new Promise<number | null>((resolve) => {
    child.once("exit", (code) => {
      // The line sends the watcher home. Without it the watcher would kill whoever has the pid by then.
      child.stdin?.end("gone\n");
      resolve(code);
    });
    child.once("error", () => resolve(null));
  });
  child.stdin?.on("error", () => {});

  const kill = async (signal: NodeJS.Signals = "SIGKILL") => {
    child.kill(signal);
    await exited;
  };
  const stop = async () => {
    child.kill(plan.stopSignal ?? "SIGTERM");
    const patience = new AbortController();
    const late = sleep(STOP_MILLISECONDS, "late", { signal: patience.signal }).catch(() => "in time");
    if ((await Promise.race([exited, late])) === "late") await kill();
    patience.abort();
  };
  return { name: plan.name, pid: child.pid ?? -1, url: plan.url, kill, stop, exited, log: plan.log };
}
