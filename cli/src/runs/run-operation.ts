// Creates a run, waits for it and prints its result. Every create has an idempotency key, which is printed with any
// failure: the same command with the same key gets the same run.
import { createHash, randomUUID } from "node:crypto";
import { type Client, fromPath } from "@gesso/client";
import { buildInput, type OperationInput, type UploadFile } from "../build-input.ts";
import { callOperation } from "../call-operation.ts";
import { createCliClient, resolveConnection } from "../connection.ts";
import { estimateOperation } from "../estimate-operation.ts";
import { commandError, EXIT_CODES, runCommand } from "../exit-codes.ts";
import type { OperationCommandLine, OperationRequest } from "../operation-command.ts";
import { paint, selectOutputMode, writeNote } from "../output/terminal.ts";
import type { RunFlags } from "../run-flags.ts";
import { followRun } from "./follow-run.ts";
import { type Interruption, listenForInterrupts } from "./interruption.ts";
import { printOpenRun } from "./print-run.ts";
import { checkOutputTargets } from "./save-outputs.ts";

export async function runOperation({ command, flags, read, flagOfInput }: OperationCommandLine): Promise<number> {
  const own = flags as unknown as RunFlags;
  const idempotencyKey = own.idempotencyKey ?? `gesso-${randomUUID()}`;
  let isSent = false;
  const code = await runCommand(
    command,
    () => resolveConnection(flags),
    async (connection) => {
      const client = createCliClient(connection);
      const request = await read();
      if (own.estimate) return estimateOperation(client, request, own);
      if (!own.wait && own.output) throw commandError("usage", "--no-wait and --output exclude each other.");
      checkOutputTargets(own);
      isSent = true;
      return createAndFollow({ client, flags: own, idempotencyKey, command }, request);
    },
    flagOfInput,
  );
  const isWorthRepeating = isSent && ![EXIT_CODES.ok, EXIT_CODES.usage].includes(code as 0);
  if (isWorthRepeating)
    writeNote(paint("dim", `Idempotency key: ${idempotencyKey} (repeats this run; without it you get a new one)`));
  return code;
}

type Creation = { client: Client; flags: RunFlags; idempotencyKey: string; command: string };

async function createAndFollow(creation: Creation, request: OperationRequest): Promise<number> {
  const interruption = listenForInterrupts();
  try {
    const runId = await createRun(creation, request, interruption);
    const { client, flags, command } = creation;
    if (!flags.wait) {
      printOpenRun(await client.runs.get(runId), selectOutputMode(flags));
      return EXIT_CODES.ok;
    }
    return await followRun({ client, runId, flags, interruption, command, operation: request.operation });
  } finally {
    interruption.stop();
  }
}

async function createRun(
  { client, idempotencyKey }: Creation,
  { operation, values }: OperationRequest,
  { signal }: Interruption,
): Promise<string> {
  const upload = createUpload(client, idempotencyKey);
  const input = await buildInput({ operation, upload }, values);
  const isSyncField = operation.fields.some(({ name }) => name === "sync");
  const request: OperationInput = { ...(isSyncField && { sync: false }), ...input };
  try {
    const response = await callOperation(client, operation, request, { idempotencyKey, signal });
    return findRunId(response);
  } catch (thrown) {
    const { runId } = thrown as { runId?: string };
    if (signal.aborted) throw commandError("interrupted", "Interrupted before Gesso confirmed the run.");
    // With --sync, the error of a run that failed names the run.
    if (runId) return runId;
    throw thrown;
  }
}

type RunResponse = { run_id?: string; runId?: string; data?: { run_id?: string } };

function findRunId(response: RunResponse): string {
  const runId = response.run_id ?? response.runId ?? response.data?.run_id;
  if (!runId) throw commandError("failed", "The response contains no run ID.");
  return runId;
}

/** The key of an upload follows from the key of the command, so a repeated command sends the same request. */
const createUpload =
  (client: Client, idempotencyKey: string): UploadFile =>
  async (path) => {
    const suffix = createHash("sha256").update(path).digest("hex").slice(0, 16);
    const options = { idempotencyKey: `${idempotencyKey}-${suffix}` };
    return (await client.images.upload({ file: fromPath(path) }, options)).data;
  };
