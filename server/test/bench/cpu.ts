// CPU seconds that processes have used, read from the kernel: of a process and of everything it has started.
import { readdirSync, readFileSync } from "node:fs";

const TICKS_PER_SECOND = 100;

/** `ended`: ticks of children that have ended. */
type Stat = { pid: number; parent: number; ticks: number; ended: number };

function readStat(pid: string): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number) as [number, number, number, number];
    return { pid: Number(pid), parent: Number(fields[1]), ticks: user + system, ended: endedUser + endedSystem };
  } catch {
    return undefined;
  }
}

/** Seconds of the process itself, and of everything it has started. */
type CpuSeconds = { own: number; children: number };

function cpuSeconds(pid: number): CpuSeconds {
  const stats = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(name) ?? []);
  const root = stats.find((stat) => stat.pid === pid);
  const sumBelow = (parent: number): number =>
    stats
      .filter((stat) => stat.parent === parent)
      .reduce((total, stat) => total + stat.ticks + stat.ended + sumBelow(stat.pid), 0);
  const children = (root?.ended ?? 0) + sumBelow(pid);
  return { own: (root?.ticks ?? 0) / TICKS_PER_SECOND, children: children / TICKS_PER_SECOND };
}

/**
 * CPU seconds used by each of these while `work` is done. What the processes in `withDecoders` have started is counted
 * as `decoders`.
 */
export async function measureCpu<T>(
  pids: Record<string, number>,
  work: () => Promise<T>,
  withDecoders: readonly string[] = [],
): Promise<{ result: T; cpu: Record<string, number> }> {
  const read = () => Object.entries(pids).map(([name, pid]) => ({ name, ...cpuSeconds(pid) }));
  const before = read();
  const result = await work();
  const cpu: Record<string, number> = {};
  for (const [index, { name, own, children }] of read().entries()) {
    const [ownUsed, childrenUsed] = [own - before[index]!.own, children - before[index]!.children];
    const hasDecoders = withDecoders.includes(name);
    cpu[name] = hasDecoders ? ownUsed : ownUsed + childrenUsed;
    if (hasDecoders) cpu.decoders = (cpu.decoders ?? 0) + childrenUsed;
  }
  return { result, cpu };
}
