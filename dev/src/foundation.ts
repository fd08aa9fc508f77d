// The parts that the server stands on and that do not know each other: PostgreSQL, Restate and the sandbox vendor.
// They come up side by side, all of them or none.
import { join } from "node:path";
import type { Part } from "./part.ts";
import type { PortPlan } from "./port-plan.ts";
import { startPostgres } from "./postgres.ts";
import { startSandbox } from "./programs.ts";
import { type RestatePart, startRestate } from "./restate.ts";

export type FoundationOptions = {
  dataDir: string;
  ports: PortPlan;
  sandboxKey: string;
  /** A PostgreSQL of one's own; then none is started. */
  databaseUrl?: string;
  sandboxEntry?: string;
};

export type Foundation = {
  databaseUrl: string;
  restate: RestatePart;
  sandbox: Part;
  /** In the order in which they are to be stopped: PostgreSQL last. */
  parts: Part[];
};

export async function startFoundation(options: FoundationOptions): Promise<Foundation> {
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

export async function stopInOrder(parts: Part[], log: (line: string) => void = () => {}): Promise<void> {
  for (const part of parts) {
    await part.stop();
    log(`stopped ${part.name}`);
  }
}
