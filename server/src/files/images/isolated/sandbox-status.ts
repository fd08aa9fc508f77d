// Reads the restrictions of this isolated process from inside, because the host may not have applied everything that
// was requested.
import { closeSync, openSync, readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import sharp from "sharp";
import type { DecoderSandboxStatus } from "../decoder-sandbox.ts";

export const readSandboxStatus = (): DecoderSandboxStatus => {
  const canReadFiles = canOpen("/etc/passwd");
  const interfaces = listNetworkInterfaces();
  return {
    hasNetwork: interfaces === undefined ? status("Seccomp") !== "2" : interfaces.length > 0,
    // The user root without capabilities has rights only over files.
    hasPrivileges: status("CapEff") !== "0000000000000000" || (process.getuid?.() === 0 && canReadFiles),
    canReadServer: ["environ", "mem"].some((name) => canOpen(`/proc/${process.ppid}/${name}`)),
    canReadFiles,
    // A container has a filter of its own, which allows sockets.
    hasSystemCallFilter: interfaces === undefined && status("Seccomp") === "2",
    memoryBytes: dataLimit(),
    libraries: sharp.versions.vips ?? "",
  };
};

/** Undefined if the socket that lists the interfaces is refused, as the filter refuses every socket. */
const listNetworkInterfaces = (): string[] | undefined => {
  try {
    return Object.keys(networkInterfaces());
  } catch {
    return undefined;
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
