// Allocates the ports of one start: the ones used last if they are free, and no port twice.
import { findPortOwner } from "./port-owner.ts";
import { freePort } from "./ports.ts";
import { usageError } from "./usage-error.ts";

export type PortPlan = {
  api: number;
  worker: number;
  postgres: number;
  ingress: number;
  admin: number;
  fabric: number;
  sandbox: number;
};

export type PortOptions = {
  /** The port given with --port: used as it is, or an error. */
  port?: number;
  remembered: Record<string, number>;
  /** How long to wait for a port whose previous holder is shutting down. */
  waitSeconds: number;
  log: (line: string) => void;
};

const DEFAULT_PORT = 7788;
const INTERNAL_PORTS = ["worker", "postgres", "ingress", "admin", "fabric", "sandbox"] as const;

export async function allocatePorts(options: PortOptions): Promise<PortPlan> {
  const plan: Record<string, number> = { api: await apiPort(options) };
  for (const name of INTERNAL_PORTS) {
    let preferred = options.remembered[name];
    do {
      plan[name] = await freePort(preferred, options.waitSeconds);
      preferred = undefined;
    } while (Object.keys(plan).some((other) => other !== name && plan[other] === plan[name]));
  }
  return plan as PortPlan;
}

async function apiPort({ port, remembered, waitSeconds, log }: PortOptions): Promise<number> {
  const wanted = port ?? remembered.api ?? DEFAULT_PORT;
  const found = await freePort(wanted, waitSeconds);
  if (found === wanted) return found;
  const problem = `Port ${wanted} is in use by ${findPortOwner(wanted) ?? "another program"}`;
  if (port !== undefined) throw usageError(`${problem}. Choose another port with --port.`);
  log(`${problem}; using port ${found}.`);
  return found;
}
