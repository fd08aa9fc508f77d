// Waits for a run to end, shows its progress, and prints the result. Ctrl-C and --timeout end the command, not the run.
import { type Client, type Run, RunFailedError } from "@gesso/client";
import { EXIT_CODES } from "../exit-codes.ts";
import type { CliOperation } from "../operations.ts";
import { type OutputMode, selectOutputMode, writeNote } from "../output/terminal.ts";
import type { RunFlags } from "../run-flags.ts";
import type { Interruption } from "./interruption.ts";
import { printEndedRun, printOpenRun } from "./print-run.ts";
import { startProgressLine } from "./progress-line.ts";

export type FollowedRun = {
  client: Client;
  runId: string;
  flags: RunFlags;
  interruption: Interruption;
  /** For messages. */
  command: string;
  operation?: CliOperation;
};

/** The client's timeout is not used: it cannot be told from that of a request. */
const NEVER_MS = 2 ** 31 - 1;

export async function followRun(followed: FollowedRun): Promise<number> {
  const { client, runId, flags, interruption } = followed;
  const mode = selectOutputMode(flags);
  const timeout = flags.timeout === undefined ? undefined : AbortSignal.timeout(flags.timeout * 1000);
  const signal = AbortSignal.any([interruption.signal, ...(timeout ? [timeout] : [])]);
  const progress = startProgressLine(client, runId, flags.quiet === true);
  interruption.onQuestion(progress.pause);
  try {
    const run = await waitForEnd(client, runId, { signal, onProgress: progress.update });
    progress.end();
    return await printEndedRun(run, { ...followed, mode });
  } catch (thrown) {
    progress.end();
    if (!signal.aborted) throw thrown;
    return timeout?.aborted && !interruption.signal.aborted
      ? leave(followed, mode, `Still running after ${flags.timeout} s. The run goes on.`, EXIT_CODES.timeout)
      : interrupt(followed, mode);
  }
}

type Waiting = { signal: AbortSignal; onProgress(run: Run): void };

/** A run that failed or was canceled has ended too. */
async function waitForEnd(client: Client, runId: string, waiting: Waiting): Promise<Run> {
  try {
    return await client.runs.get(runId).wait({ ...waiting, cancelOnAbort: false, timeout: NEVER_MS });
  } catch (thrown) {
    if (!RunFailedError.isInstance(thrown)) throw thrown;
    return await client.runs.get(runId);
  }
}

async function interrupt(followed: FollowedRun, mode: OutputMode): Promise<number> {
  const { client, runId, interruption } = followed;
  if (!interruption.isCancel()) return leave(followed, mode, "The run goes on.", EXIT_CODES.interrupted);
  const run = await client.runs.cancel(runId);
  printOpenRun(run, mode);
  writeNote(`Canceled run ${runId}.`);
  return EXIT_CODES.interrupted;
}

/** The ID is the data of a command that no longer waits. */
function leave({ runId }: FollowedRun, mode: OutputMode, message: string, code: number): number {
  printOpenRun({ run_id: runId, status: "processing" }, mode);
  writeNote(`${message} Wait for it with: gesso runs watch ${runId}`);
  return code;
}
