// CPU and memory of processes and all processes that they started, read from /proc.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const IDLE_SECONDS = 10;
const TICKS_PER_SECOND = 100;

export type ProcessFigures = { cpuPercent: number; megabytes: number };

/** Observes for 10 s. A process that ends meanwhile counts as idle. */
export async function measureProcesses(roots: readonly number[]): Promise<ProcessFigures> {
  const processes = listProcesses(roots);
  const before = processes.map(readCpuSeconds);
  await sleep(IDLE_SECONDS * 1000);
  const used = processes.map((pid, index) => Math.max(0, readCpuSeconds(pid) - before[index]!));
  return { cpuPercent: (sum(used) / IDLE_SECONDS) * 100, megabytes: sum(processes.map(readMegabytes)) };
}

function listProcesses(roots: readonly number[]): number[] {
  const parents = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
  const all = new Set(roots);
  for (let size = 0; size !== all.size; ) {
    size = all.size;
    for (const [pid, parent] of parents) if (all.has(parent)) all.add(pid);
  }
  return [...all];
}

/** Empty if the process has ended meanwhile. */
function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

function readCpuSeconds(pid: number): number {
  const fields = readProcess(pid, "stat").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND;
}

/** Shared pages count once. */
const readMegabytes = (pid: number) => Number(/^Pss:\s+(\d+)/m.exec(readProcess(pid, "smaps_rollup"))?.[1] ?? 0) / 1024;

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
