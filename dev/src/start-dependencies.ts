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
  /** URL of an existing PostgreSQL. If set, no PostgreSQL is started. */
  databaseUrl?: string;
  sandboxEntry?: string;
  sandboxSide?: number;
};

export type Dependencies = {
  databaseUrl: string;
  restate: RestateProcess;
  sandbox: ManagedProcess;
  /** In stop order: PostgreSQL last. */
  components: ManagedProcess[];
};

export async function startDependencies(options: DependencyOptions): Promise<Dependencies> {
  const { dataDir, ports } = options;
  const sandboxStart = startSandbox({
    dataDir: join(dataDir, "sandbox"),
    port: ports.sandbox,
    key: options.sandboxKey,
    entry: options.sandboxEntry,
    side: options.sandboxSide,
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
  const components = outcomes.flatMap((outcome) =>
    outcome.status === "fulfilled" && outcome.value ? [outcome.value] : [],
  );
  const failure = outcomes.find((outcome) => outcome.status === "rejected");
  if (failure) {
    await stopInOrder(components);
    throw failure.reason;
  }
  const databaseUrl = options.databaseUrl ?? (await postgresStart)?.url ?? "";
  return { databaseUrl, restate: await restateStart, sandbox: await sandboxStart, components };
}

export async function stopInOrder(components: ManagedProcess[], log: (line: string) => void = () => {}): Promise<void> {
  for (const component of components) {
    await component.stop();
    log(`Stopped ${component.name}.`);
  }
}
