// `gesso dev`: starts everything, shows where it is, and ends it in order. Returns the exit code: 0 when it was asked
// to stop, 1 when something broke, 2 when what was asked for cannot be.
import { once } from "node:events";
import { logTail } from "./log-tail.ts";
import type { Part } from "./part.ts";
import { isRefusal } from "./refusal.ts";
import { readyJson, readyScreen } from "./screen.ts";
import { type Gesso, type StartOptions, startAll } from "./start.ts";

export type DevOptions = {
  data: string;
  port?: number;
  ephemeral?: boolean;
  json?: boolean;
  entries?: StartOptions["entries"];
};

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const SECOND_THOUGHTS_MILLISECONDS = 1000;

export async function dev(options: DevOptions): Promise<number> {
  const beginning = performance.now();
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const interruption = onInterrupt(say);
  let gesso: Gesso;
  try {
    const databaseUrl = process.env.DATABASE_URL || undefined;
    gesso = await startAll({ ...options, databaseUrl, dataDir: options.data, log: (line) => say(`  ${line}`) });
  } catch (error) {
    say(error instanceof Error ? `gesso dev: ${error.message}` : String(error));
    return isRefusal(error) ? 2 : 1;
  }

  const ready = { gesso, readySeconds: (performance.now() - beginning) / 1000, ephemeral: options.ephemeral ?? false };
  if (options.json) process.stdout.write(`${readyJson(ready)}\n`);
  else if (!interruption.aborted) say(readyScreen(ready));

  const dead = await Promise.race([untilAborted(interruption), ...gesso.parts.map(untilDead)]);
  if (dead) {
    say(`\n  ${dead.name} (pid ${dead.pid}) ended by itself. The last lines of ${dead.log}:\n${logTail(dead.log)}\n`);
  } else {
    say("\n  stopping");
  }
  await gesso.stop();
  say(options.ephemeral ? "  All stopped. The data is removed." : `  All stopped. The data stays in ${gesso.dataDir}.`);
  return dead ? 1 : 0;
}

async function untilDead(part: Part): Promise<Part> {
  await part.exited;
  return part;
}

async function untilAborted(signal: AbortSignal): Promise<undefined> {
  if (!signal.aborted) await once(signal, "abort");
}

/**
 * Aborts at the first signal. A later one ends this process at once, and with it, by their leash, all parts. One that
 * comes right behind the first is the same Ctrl-C: npm passes on what the terminal has already sent to everybody.
 */
function onInterrupt(say: (line: string) => void): AbortSignal {
  const controller = new AbortController();
  let first: number | undefined;
  const interrupt = () => {
    first ??= performance.now();
    controller.abort();
    if (performance.now() - first < SECOND_THOUGHTS_MILLISECONDS) return;
    say("  Killed before all had stopped. What was committed is safe.");
    process.exit(130);
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  return controller.signal;
}
