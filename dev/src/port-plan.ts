// Decides on the ports of one start: those of last time where they are free, and never the same one twice.
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
  /** Asked for by name: this one or none. */
  port?: number;
  remembered: Record<string, number>;
  /** How long to wait for a port whose last holder is ending. */
  patienceSeconds: number;
  log: (line: string) => void;
};

const DEFAULT_PORT = 7788;
const INTERNAL_PORTS = ["worker", "postgres", "ingress", "admin", "fabric", "sandbox"] as const;

export async function allocatePorts(wishes: PortOptions): Promise<PortPlan> {
  const plan: Record<string, number> = { api: await apiPort(wishes) };
  for (const name of INTERNAL_PORTS) {
    let preferred = wishes.remembered[name];
    do {
      plan[name] = await freePort(preferred, wishes.patienceSeconds);
      preferred = undefined;
    } while (Object.keys(plan).some((other) => other !== name && plan[other] === plan[name]));
  }
  return plan as PortPlan;
}

async function apiPort({ port, remembered, patienceSeconds, log }: PortOptions): Promise<number> {
  const wanted = port ?? remembered.api ?? DEFAULT_PORT;
  const found = await freePort(wanted, patienceSeconds);
  if (found === wanted) return found;
  const sentence = `Port ${wanted} is in use by ${findPortOwner(wanted) ?? "another program"}`;
  if (port !== undefined) throw usageError(`${sentence}. Choose another with --port.`);
  log(`${sentence}; using ${found}.`);
  return found;
}
