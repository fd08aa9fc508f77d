// Finds the process that listens on a port (Linux only), so that an error message can name it.
import { basename } from "node:path";
import { listDirectory, listPids, processName, readLink, readText } from "./process-info.ts";

const LISTENING = "0A";

/** For example "node (pid 1234)"; undefined if the system does not tell. */
export function findPortOwner(port: number): string | undefined {
  const sockets = new Set([...listeners("/proc/net/tcp", port), ...listeners("/proc/net/tcp6", port)]);
  if (sockets.size === 0) return undefined;
  const pid = listPids().find((candidate) => hasSocket(candidate, sockets));
  if (pid === undefined) return undefined;
  // The executable's name is preferred to the process name: Node.js names its process "MainThread".
  const program = readLink(`/proc/${pid}/exe`);
  return `${program ? basename(program) : processName(pid)} (pid ${pid})`;
}

function listeners(table: string, port: number): string[] {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = readText(table)?.split("\n").slice(1) ?? [];
  return rows.flatMap((row) => {
    const [, local, , state, , , , , , inode] = row.trim().split(/\s+/);
    return local?.endsWith(wanted) && state === LISTENING ? [`socket:[${inode}]`] : [];
  });
}

function hasSocket(pid: number, sockets: Set<string>): boolean {
  const directory = `/proc/${pid}/fd`;
  return listDirectory(directory).some((descriptor) => sockets.has(readLink(`${directory}/${descriptor}`) ?? ""));
}
