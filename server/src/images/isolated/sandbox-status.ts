// Reads the restrictions of this isolated process from inside, because the host may not have applied everything that
// was requested.
import { closeSync, openSync, readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import sharp from "sharp";
import type { DecoderSandboxStatus } from "../decoder-sandbox.ts";

export const readSandboxStatus = (): DecoderSandboxStatus => {
  const hasSystemCallFilter = status("Seccomp") === "2";
  const canReadFiles = canOpen("/etc/passwd");
  return {
    hasNetwork: hasNetworkInterfaces(hasSystemCallFilter),
    // The user root without capabilities has rights only over files.
    hasPrivileges: status("CapEff") !== "0000000000000000" || (process.getuid?.() === 0 && canReadFiles),
    canReadServer: ["environ", "mem"].some((name) => canOpen(`/proc/${process.ppid}/${name}`)),
    canReadFiles,
    hasSystemCallFilter,
    memoryBytes: dataLimit(),
    libraries: sharp.versions.vips ?? "",
  };
};

/** The filter refuses the socket that lists the interfaces, as it refuses every other one. */
const hasNetworkInterfaces = (hasSystemCallFilter: boolean): boolean => {
  try {
    return Object.keys(networkInterfaces()).length > 0;
  } catch {
    return !hasSystemCallFilter;
  }
};

const canOpen = (path: string): boolean => {
  try {
    closeSync(openSync(path, "r"));
    return true;
  } catch {
    return false;
  }
};

const read = (path: string): string => {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
};
const status = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, "m").exec(read("/proc/self/status"))?.[1];
const dataLimit = () => Number(/^Max data size\s+(\d+)/m.exec(read("/proc/self/limits"))?.[1] ?? 0) || null;
