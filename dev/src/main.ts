// `gesso dev`: starts all components, reports where they listen, and stops them in order. Returns the exit code:
// 0 after a requested stop, 1 after a failure, 2 for invalid options.
import { once } from "node:events";
import { buildConsole } from "./console-build.ts";
import { createConsoleLink } from "./console-link.ts";
import { logTail } from "./log-tail.ts";
import type { ManagedProcess } from "./managed-process.ts";
import { installMissingPrograms } from "./programs/install-programs.ts";
import { findUnusedKeys, loadProviderChoice } from "./providers/provider-choice.ts";
import { listProviderStatus } from "./providers/provider-status.ts";
import { applySpendingCap } from "./providers/spending-cap.ts";
import { watchProviderChoice } from "./providers/watch-provider-choice.ts";
import { type ReadyProviders, renderProviders, renderReady, renderReadyJson } from "./ready-output.ts";
import { type GessoInstance, type StartOptions, startGesso } from "./start.ts";
import { isUsageError } from "./usage-error.ts";

export type DevOptions = {
  data: string;
  port?: number;
  ephemeral?: boolean;
  json?: boolean;
  /** Providers to use besides the sandbox, from now on. */
  providers?: string[];
  /** US dollars per month that the development tenant may spend; null for no limit. */
  spendLimit?: number | null;
  /** Install PostgreSQL and Restate without asking, if they are missing. */
  yes?: boolean;
  entries?: StartOptions["entries"];
};

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const DUPLICATE_SIGNAL_MS = 1000;

export async function dev(options: DevOptions): Promise<number> {
  const log = (line: string) => process.stderr.write(`${line}\n`);
  try {
    await installMissingPrograms({ yes: options.yes ?? false, log });
  } catch (error) {
    return reportFailure(error, log);
  }

  const startedAt = performance.now();
  const interruption = onInterrupt(log);
  let gesso: GessoInstance;
  try {
    const databaseUrl = process.env.DATABASE_URL || undefined;
    const logLine = (line: string) => log(`  ${line}`);
    const starting = startGesso({ ...options, databaseUrl, dataDir: options.data, log: logLine });
    [gesso] = await Promise.all([starting, options.entries ? undefined : buildConsole(logLine)]);
  } catch (error) {
    return reportFailure(error, log);
  }

  const readySeconds = (performance.now() - startedAt) / 1000;
  try {
    const [consoleUrl, providers] = await Promise.all([createConsoleLink(gesso), readProviders(gesso, options)]);
    const ready = { gesso, readySeconds, ephemeral: options.ephemeral ?? false, consoleUrl, ...providers };
    if (options.json) process.stdout.write(`${renderReadyJson(ready)}\n`);
    else if (!interruption.aborted) log(renderReady(ready));
  } catch (error) {
    log(`gesso dev: ${error instanceof Error ? error.message : error}`);
    await gesso.stop();
    return 1;
  }

  const exited = await superviseUntilExit(gesso, interruption, log);
  if (exited instanceof Error) {
    log(`\n  ${exited.message}`);
  } else if (exited) {
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

function reportFailure(error: unknown, log: (line: string) => void): number {
  log(error instanceof Error ? `gesso dev: ${error.message}` : String(error));
  return isUsageError(error) ? 2 : 1;
}

/** What the banner says about providers and money. Sets the spending cap before the key is shown. */
async function readProviders(gesso: GessoInstance, { spendLimit }: DevOptions): Promise<ReadyProviders> {
  const limits = await applySpendingCap({ server: gesso, dataDir: gesso.dataDir, named: spendLimit });
  const choice = loadProviderChoice(gesso.dataDir);
  const providers = await listProviderStatus(gesso, choice);
  return { providers, limits, unusedKeys: findUnusedKeys(choice, process.env) };
}

/**
 * Returns the component that exited, undefined at the first signal, and the error if the server does not start again
 * after a change of its providers.
 */
async function superviseUntilExit(
  gesso: GessoInstance,
  interruption: AbortSignal,
  log: (line: string) => void,
): Promise<ManagedProcess | Error | undefined> {
  const changes = watchProviderChoice(gesso.dataDir);
  try {
    for (;;) {
      const change = changes.next().then(() => "changed" as const);
      const event = await Promise.race([waitForAbort(interruption), change, ...gesso.components.map(waitForExit)]);
      if (event !== "changed") return event;
      log("  The providers changed: the server starts again …");
      await gesso.restartServer();
      log(renderProviders(await readProviders(gesso, { data: gesso.dataDir })));
    }
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    changes.close();
  }
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
