// CPU seconds that processes have used, read from the kernel: of a process and of everything it has started.
import { readdirSync, readFileSync } from "node:fs";

const TICKS_PER_SECOND = 100;

type Stat = { pid: number; parent: number; ticks: number };

function readStat(pid: string): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    // utime, stime and those of children that have been waited for.
    const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0);
    return { pid: Number(pid), parent: Number(fields[1]), ticks };
  } catch {
    return undefined;
  }
}

function cpuSeconds(pid: number): number {
  const stats = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(name) ?? []);
  const sum = (root: number): number =>
    stats
      .filter((stat) => stat.parent === root)
      .reduce((total, stat) => total + sum(stat.pid), stats.find((stat) => stat.pid === root)?.ticks ?? 0);
  return sum(pid) / TICKS_PER_SECOND;
}

/** CPU seconds used by each of these while `work` is done. */
export async function measureCpu<T>(
  pids: Record<string, number>,
  work: () => Promise<T>,
): Promise<{ result: T; cpu: Record<string, number> }> {
  const before = Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, cpuSeconds(pid)]));
  const result = await work();
  const cpu = Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, cpuSeconds(pid) - before[name]!]));
  return { result, cpu };
}
