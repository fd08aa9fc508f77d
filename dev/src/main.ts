// `gesso dev`: starts all components, reports where they listen, and stops them in order. Returns the exit code:
// 0 after a requested stop, 1 after a failure, 2 for invalid options.
import { once } from "node:events";
import { buildConsole } from "./console-build.ts";
import { createConsoleLink } from "./console-link.ts";
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
  const startedAt = performance.now();
  const log = (line: string) => process.stderr.write(`${line}\n`);
  const interruption = onInterrupt(log);
  let gesso: GessoInstance;
  try {
    const databaseUrl = process.env.DATABASE_URL || undefined;
    const logLine = (line: string) => log(`  ${line}`);
    const starting = startGesso({ ...options, databaseUrl, dataDir: options.data, log: logLine });
    [gesso] = await Promise.all([starting, options.entries ? undefined : buildConsole(logLine)]);
  } catch (error) {
    log(error instanceof Error ? `gesso dev: ${error.message}` : String(error));
    return isUsageError(error) ? 2 : 1;
  }

  const readySeconds = (performance.now() - startedAt) / 1000;
  const consoleUrl = await createConsoleLink(gesso);
  const ready = { gesso, readySeconds, ephemeral: options.ephemeral ?? false, consoleUrl };
  if (options.json) process.stdout.write(`${renderReadyJson(ready)}\n`);
  else if (!interruption.aborted) log(renderReady(ready));

  const exited = await Promise.race([waitForAbort(interruption), ...gesso.components.map(waitForExit)]);
  if (exited) {
    log(
      `\n  ${exited.name} (pid ${exited.pid}) exited unexpectedly. Last lines of ${exited.log}:\n${logTail(exited.log)}\n`,
    );
  } else {
    log("\n  Stopping …");
  }
  await gesso.stop();
  log(
    options.ephemeral ? "  Stopped. The data directory was deleted." : `  Stopped. The data stays in ${gesso.dataDir}.`,
  );
  return exited ? 1 : 0;
}

async function waitForExit(component: ManagedProcess): Promise<ManagedProcess> {
  await component.exited;
  return component;
}

async function waitForAbort(signal: AbortSignal): Promise<undefined> {
  if (!signal.aborted) await once(signal, "abort");
}

/**
 * Aborts at the first signal. A later signal exits at once; the parent watchdogs then kill all components. A signal
 * within a second of the first is the same Ctrl-C: the terminal sends it to the process group, and npm forwards it too.
 */
function onInterrupt(log: (line: string) => void): AbortSignal {
  const controller = new AbortController();
  let first: number | undefined;
  const interrupt = () => {
    first ??= performance.now();
    controller.abort();
    if (performance.now() - first < DUPLICATE_SIGNAL_MS) return;
    log("  Killed before shutdown finished. Committed data is safe.");
    process.exit(130);
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  return controller.signal;
}
