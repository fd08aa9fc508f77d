// Starts the dependencies of the server in parallel: PostgreSQL, Restate and the sandbox. If one fails, the others are
// stopped.
import { join } from "node:path";
import { startSandbox } from "./gesso-processes.ts";
import type { ManagedProcess } from "./managed-process.ts";
import type { PortPlan } from "./port-plan.ts";
import { startPostgres } from "./postgres.ts";
import { type RestateProcess, startRestate } from "./restate.ts";

export type DependencyOptions = {
  dataDir: string;
  ports: PortPlan;
  sandboxKey: string;
  /** A PostgreSQL of one's own; then none is started. */
  databaseUrl?: string;
  sandboxEntry?: string;
};

export type Dependencies = {
  databaseUrl: string;
  restate: RestateProcess;
  sandbox: ManagedProcess;
  /** In the order in which they are to be stopped: PostgreSQL last. */
  parts: ManagedProcess[];
};

export async function startDependencies(options: DependencyOptions): Promise<Dependencies> {
  const { dataDir, ports } = options;
  const sandboxStart = startSandbox({
    dataDir: join(dataDir, "sandbox"),
    port: ports.sandbox,
    key: options.sandboxKey,
    entry: options.sandboxEntry,
  });
  const restateStart = startRestate({
    dataDir: join(dataDir, "restate"),
    ingressPort: ports.ingress,
    adminPort: ports.admin,
    fabricPort: ports.fabric,
  });
  const postgresStart = options.databaseUrl
    ? undefined
    : startPostgres({ dataDir: join(dataDir, "postgres"), port: ports.postgres });

  const outcomes = await Promise.allSettled([sandboxStart, restateStart, postgresStart]);
  const parts = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" && outcome.value ? [outcome.value] : []));
  const failure = outcomes.find((outcome) => outcome.status === "rejected");
  if (failure) {
    await stopInOrder(parts);
    throw failure.reason;
  }
  const databaseUrl = options.databaseUrl ?? (await postgresStart)?.url ?? "";
  return { databaseUrl, restate: await restateStart, sandbox: await sandboxStart, parts };
}

export async function stopInOrder(parts: ManagedProcess[], log: (line: string) => void = () => {}): Promise<void> {
  for (const part of parts) {
    await part.stop();
    log(`stopped ${part.name}`);
  }
}
