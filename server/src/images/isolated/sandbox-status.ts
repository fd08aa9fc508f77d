// Reads the restrictions of this isolated process from inside, because the host may not have applied everything that
// was requested.
import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import sharp from "sharp";
import type { DecoderSandboxStatus } from "../decoder-sandbox.ts";

export const readSandboxStatus = (): DecoderSandboxStatus => ({
  hasNetwork: Object.keys(networkInterfaces()).length > 0,
  hasPrivileges: process.getuid?.() === 0 || status("CapEff") !== "0000000000000000",
  memoryBytes: dataLimit(),
  libraries: sharp.versions.vips ?? "",
});

const read = (path: string): string => {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
};
const status = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, "m").exec(read("/proc/self/status"))?.[1];
const dataLimit = () => Number(/^Max data size\s+(\d+)/m.exec(read("/proc/self/limits"))?.[1] ?? 0) || null;
