// Runs a command in a control group of its own and counts its CPU time. Whatever ends it, every process that it has
// started is stopped before the result is returned, so nothing is left behind.
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { type CpuGroup, createGroup } from "../../server/test/support/cpu-group.ts";

export type CommandOptions = {
  name: string;
  command: string[];
  limitSeconds: number;
  env?: Record<string, string>;
  /** Gets the output line by line. Default: it is printed. */
  onOutput?: (text: string) => void;
  /** The lowest priority, for work beside something else. */
  isNice?: boolean;
};
export type CommandResult = { code: number; seconds: number; cpuSeconds: number | undefined };

const GRACE_MS = 10_000;
const gate = createGroup(`gesso-gate-${process.pid}`);
const running = new Set<{ stop(): Promise<void> }>();
let isStopping = false;

export async function runCommand(options: CommandOptions): Promise<CommandResult> {
  // The caller is about to exit: its next command must not start.
  if (isStopping) return new Promise<never>(() => {});
  const group = gate?.createChild(options.name.replaceAll(/\W+/g, "-"));
  const before = group?.cpuSeconds() ?? 0;
  const startedAt = performance.now();
  const [file = "", ...parameters] = options.isNice ? ["nice", "-n", "19", ...options.command] : options.command;
  // The shell enters the group before it becomes the command, so that no child is missed.
  const enter = group ? `echo $$ > "${group.path}/cgroup.procs"; ` : "";
  const child = spawn("bash", ["-c", `${enter}exec "$@"`, "bash", file, ...parameters], {
    stdio: ["ignore", options.onOutput ? "pipe" : "inherit", options.onOutput ? "pipe" : "inherit"],
    env: { ...process.env, ...options.env },
    detached: true,
  });
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => options.onOutput!(text));
  const exited = new Promise<number>((resolve) => {
    child.on("error", () => resolve(127));
    child.on("exit", (code) => resolve(code ?? 1));
  });
  const processes = { stop: () => stopProcesses(child.pid!, group, exited) };
  running.add(processes);
  const limit = setTimeout(() => {
    console.log(`${options.name}: stopped after ${options.limitSeconds} s`);
    void processes.stop();
  }, options.limitSeconds * 1000);
  const code = await exited;
  clearTimeout(limit);
  await processes.stop();
  running.delete(processes);
  const seconds = (performance.now() - startedAt) / 1000;
  const cpuSeconds = group && group.cpuSeconds() - before;
  group?.remove();
  return { code, seconds, cpuSeconds };
}

/** Stops everything that still runs: first by SIGTERM, then by SIGKILL. No further command starts. */
export async function stopEverything(): Promise<void> {
  isStopping = true;
  await Promise.all([...running].map((each) => each.stop()));
  gate?.remove();
}

async function stopProcesses(pid: number, group: CpuGroup | undefined, exited: Promise<number>): Promise<void> {
  // Without a control group only the process group of the command is known.
  const listLeft = () => group?.listProcesses() ?? (isAlive(-pid) ? [-pid] : []);
  if (listLeft().length > 0) signal([-pid], "SIGTERM");
  for (let waited = 0; waited < GRACE_MS && listLeft().length > 0; waited += 100) {
    // Some processes are stopped by their parents. What outlives them by a second is asked itself.
    if (waited === 1000) signal(listLeft(), "SIGTERM");
    await sleep(100);
  }
  for (let waited = 0; waited < GRACE_MS && listLeft().length > 0; waited += 100) {
    signal(listLeft(), "SIGKILL");
    await sleep(100);
  }
  await exited;
}

function signal(pids: number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It has exited.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
