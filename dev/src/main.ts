// `gesso dev`: starts everything, shows where it is, and ends it in order. Returns the exit code: 0 when it was asked
// to stop, 1 when something broke, 2 when what was asked for cannot be.
import { once } from "node:events";
import { logTail } from "./log-tail.ts";
import type { ManagedProcess } from "./managed-process.ts";
import { renderReady, renderReadyJson } from "./ready-output.ts";
import { type GessoInstance, type StartOptions, startGesso } from "./start.ts";
import { isUsageError } from "./usage-error.ts";

export type DevOptions = {
  data: string;
  port?: number;
  ephemeral?: boolean;
  json?: boolean;
  entries?: StartOptions["entries"];
};

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const DUPLICATE_SIGNAL_MS = 1000;

export async function dev(options: DevOptions): Promise<number> {
  const beginning = performance.now();
  const log = (line: string) => process.stderr.write(`${line}\n`);
  const interruption = onInterrupt(log);
  let gesso: GessoInstance;
  try {
    const databaseUrl = process.env.DATABASE_URL || undefined;
    gesso = await startGesso({ ...options, databaseUrl, dataDir: options.data, log: (line) => log(`  ${line}`) });
  } catch (error) {
    log(error instanceof Error ? `gesso dev: ${error.message}` : String(error));
    return isUsageError(error) ? 2 : 1;
  }

  const ready = { gesso, readySeconds: (performance.now() - beginning) / 1000, ephemeral: options.ephemeral ?? false };
  if (options.json) process.stdout.write(`${renderReadyJson(ready)}\n`);
  else if (!interruption.aborted) log(renderReady(ready));

  const exited = await Promise.race([waitForAbort(interruption), ...gesso.parts.map(waitForExit)]);
  if (exited) {
    log(
      `\n  ${exited.name} (pid ${exited.pid}) exited unexpectedly. Last lines of ${exited.log}:\n${logTail(exited.log)}\n`,
    );
  } else {
    log("\n  stopping");
  }
  await gesso.stop();
  log(options.ephemeral ? "  Stopped. The data directory was deleted." : `  Stopped. Data kept in ${gesso.dataDir}.`);
  return exited ? 1 : 0;
}

async function waitForExit(part: ManagedProcess): Promise<ManagedProcess> {
  await part.exited;
  return part;
}

async function waitForAbort(signal: AbortSignal): Promise<undefined> {
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
    if (performance.now() - first < DUPLICATE_SIGNAL_MS) return;
    say("  Killed before shutdown finished. Committed data is safe.");
    process.exit(130);
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  return controller.signal;
}
