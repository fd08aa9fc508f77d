// Starts a Restate server as a child process, without its JavaScript wrapper, so that kill -9 hits the server itself.
// Accepted invocations survive a restart on the same data and ports.
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { type ManagedProcess, startProcess } from "./managed-process.ts";
import { freePort } from "./ports.ts";
import { findRestateBinary } from "./programs/find-program.ts";
import { respondsOk } from "./readiness-probe.ts";
import { type RestateMembership, restateSettings } from "./restate-settings.ts";

export type RestateProcess = ManagedProcess & { ingressUrl: string; adminUrl: string };

export type RestateOptions = {
  dataDir: string;
  ingressPort: number;
  adminPort: number;
  fabricPort?: number;
  nodeName?: string;
  /** Used on the first start only: a cluster keeps its number of partitions. */
  partitions?: number;
  memoryMebibytes?: number;
  cluster?: RestateMembership;
  /** Additional settings, as `RESTATE_…` variables; they override the defaults. */
  settings?: Record<string, string>;
};

export async function startRestate(options: RestateOptions): Promise<RestateProcess> {
  const dataDir = resolve(options.dataDir);
  mkdirSync(dataDir, { recursive: true });
  const nodeName = options.nodeName ?? "gesso-1";
  const ingressUrl = `http://127.0.0.1:${options.ingressPort}`;
  const adminUrl = `http://127.0.0.1:${options.adminPort}`;
  const settings = restateSettings({
    partitions: 1,
    memoryMebibytes: 128,
    ...options,
    dataDir,
    nodeName,
    fabricPort: options.fabricPort ?? (await freePort()),
  });
  const component = await startProcess({
    name: options.cluster ? `restate ${nodeName}` : "restate",
    url: ingressUrl,
    command: [requireBinary(), "--no-logo"],
    log: join(dataDir, `${nodeName}.log`),
    // This environment is not inherited: a proxy or another RESTATE_ variable would change how the server works.
    environment: { PATH: process.env.PATH ?? "", ...settings, ...options.settings },
    directory: dataDir,
    probe: async () => (await respondsOk(`${ingressUrl}/restate/health`)) && (await hasLeaders(adminUrl)),
    readySeconds: 60,
  });
  return { ...component, ingressUrl, adminUrl };
}

/** The health endpoints report success before any partition has a leader, and calls made then hang for seconds. */
async function hasLeaders(adminUrl: string): Promise<boolean> {
  const query = "select count(*) from sys_invocation_status";
  return (
    (await respondsOk(`${adminUrl}/health`)) &&
    (await respondsOk(`${adminUrl}/query`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ query }),
    }))
  );
}

function requireBinary(): string {
  const binary = findRestateBinary();
  if (binary === undefined) throw new Error("Restate is not installed. Run gesso dev, which installs it.");
  return binary;
}
