// A control group of Linux: counts the CPU time of all processes in it, also of those that were killed, and knows
// which of them are left. Undefined where control groups cannot be written, for example without root.
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

export type CpuGroup = {
  path: string;
  cpuSeconds(): number;
  /** Moves a process into the group. Its future children follow. */
  add(pid: number): void;
  /** A group below this one. Its CPU time counts here too. */
  createChild(name: string): CpuGroup;
  /** The processes in this group and in those below it. */
  listProcesses(): number[];
  /** Removes the group and those below it, as far as they are empty. */
  remove(): void;
};

const VERSION_1 = "/sys/fs/cgroup/cpuacct";
const VERSION_2 = "/sys/fs/cgroup";

/** The group that this process is in. */
export function findOwnGroup(): CpuGroup | undefined {
  try {
    const lines = readFileSync("/proc/self/cgroup", "utf8").split("\n");
    const accounted = lines.find((line) => line.split(":")[1]?.split(",").includes("cpuacct"));
    const unified = lines.find((line) => line.startsWith("0::"));
    const own = accounted ? join(VERSION_1, accounted.split(":")[2]!) : join(VERSION_2, unified!.split(":")[2]!);
    const group = openGroup(own);
    group.cpuSeconds();
    return group;
  } catch {
    return undefined;
  }
}

/** Creates a group below that of this process. */
export function createGroup(name: string): CpuGroup | undefined {
  try {
    return findOwnGroup()?.createChild(name);
  } catch {
    return undefined;
  }
}

function openGroup(path: string): CpuGroup {
  const read = (file: string) => readFileSync(join(path, file), "utf8");
  const listFolders = () =>
    readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? join(path, entry.name) : []));
  return {
    path,
    cpuSeconds() {
      if (path.startsWith(VERSION_1)) return Number(read("cpuacct.usage")) / 1e9;
      return Number(/^usage_usec (\d+)/m.exec(read("cpu.stat"))?.[1]) / 1e6;
    },
    add: (pid) => writeFileSync(join(path, "cgroup.procs"), String(pid)),
    createChild(name) {
      const child = join(path, basename(name));
      mkdirSync(child, { recursive: true });
      return openGroup(child);
    },
    listProcesses() {
      try {
        const own = read("cgroup.procs").split("\n").filter(Boolean).map(Number);
        return [...own, ...listFolders().flatMap((folder) => openGroup(folder).listProcesses())];
      } catch {
        // The group was removed.
        return [];
      }
    },
    remove() {
      try {
        for (const folder of listFolders()) openGroup(folder).remove();
        rmdirSync(path);
      } catch {
        // A process is still in it, or it is gone.
      }
    },
  };
}
