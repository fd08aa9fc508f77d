#!/usr/bin/env node
// The command `gesso-sandbox`: parses its arguments, starts the sandbox and stops it on a signal.
import { parseArgs } from "node:util";
import { startSandbox } from "./sandbox.ts";
import { DEFAULT_SIDE } from "./size.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "7790" },
    data: { type: "string", default: ".gesso/sandbox" },
    key: { type: "string", default: "sandbox" },
    host: { type: "string", default: "127.0.0.1" },
    // Where others reach the sandbox, for the URLs of results. Default: the host and the port.
    url: { type: "string" },
    ffmpeg: { type: "string", default: "ffmpeg" },
    // Of a square image whose size is not requested, in pixels. Tests draw small ones.
    side: { type: "string", default: String(DEFAULT_SIDE) },
  },
});

const sandbox = await startSandbox({
  port: Number(values.port),
  dataDir: values.data,
  key: values.key,
  host: values.host,
  ...(values.url !== undefined && { publicUrl: values.url }),
  ffmpeg: values.ffmpeg,
  side: Number(values.side),
});
console.log(`sandbox listening on ${sandbox.url}`);

const stop = async (): Promise<void> => {
  await sandbox.close();
  process.exit(0);
};
process.once("SIGTERM", () => void stop());
process.once("SIGINT", () => void stop());
