// Runs a component as a child process. It writes to a log file, is ready when `startProcess` returns, and never
// outlives its parent.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, fstatSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { logTail } from "./log-tail.ts";
import { withParentWatchdog } from "./parent-watchdog.ts";
import { waitUntil } from "./readiness-probe.ts";

export type ManagedProcess = {
  name: string;
  pid: number;
  url: string;
  /** Sends the signal (default: SIGKILL) and resolves when the process has exited. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Sends the stop signal, and SIGKILL if the process is still running after 10 s. */
  stop(): Promise<void>;
  /** Resolves with the exit code, or null if a signal terminated the process. */
  exited: Promise<number | null>;
  /** Path of the log file. */
  log: string;
};

export type ProcessSpec = {
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

export async function startProcess(spec: ProcessSpec): Promise<ManagedProcess> {
  mkdirSync(spec.directory, { recursive: true });
  mkdirSync(dirname(spec.log), { recursive: true });
  const log = openSync(spec.log, "a", 0o600);
  const start = fstatSync(log).size;
  const [file, parameters] = withParentWatchdog(spec.command);
  // Detached: Ctrl-C signals the whole process group and would stop all components at once, in no order.
  const child = spawn(file, parameters, {
    cwd: spec.directory,
    env: spec.environment,
    stdio: ["pipe", log, log],
    detached: true,
    ...spec.user,
  });
  closeSync(log);

  const managed = toManagedProcess(spec, child);
  const isGone = () => child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
  const seconds = spec.readySeconds ?? 30;
  if (await waitUntil(spec.probe, seconds, isGone)) return managed;

  const reason = isGone()
    ? `exited (code ${await managed.exited}) before it was ready`
    : `was not ready after ${seconds} s`;
  if (!isGone()) await managed.kill();
  throw new Error(`${spec.name} ${reason}. Last lines of ${spec.log}:\n${logTail(spec.log, start)}`);
}

function toManagedProcess(spec: ProcessSpec, child: ChildProcess): ManagedProcess {
  const exited = new Promise<number | null>((resolve) => {
    child.once("exit", (code) => {
      // Ends the watchdog, which would otherwise kill a later process with the same pid.
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
    child.kill(spec.stopSignal ?? "SIGTERM");
    const timeout = new AbortController();
    const late = sleep(STOP_MILLISECONDS, "late", { signal: timeout.signal }).catch(() => "in time");
    if ((await Promise.race([exited, late])) === "late") await kill();
    timeout.abort();
  };
  return { name: spec.name, pid: child.pid ?? -1, url: spec.url, kill, stop, exited, log: spec.log };
}
