// Runs an operation that creates no run, and prints its response.
import type { Client } from "@gesso/client";
import { buildInput, type OperationInput, type UploadFile } from "./build-input.ts";
import { callOperation } from "./call-operation.ts";
import { createCliClient, resolveConnection } from "./connection.ts";
import { commandError, EXIT_CODES, runCommand } from "./exit-codes.ts";
import type { OperationCommandLine } from "./operation-command.ts";
import { printResponse } from "./output/print-response.ts";
import { type OutputFlags, selectOutputMode } from "./output/terminal.ts";
import { printEvents } from "./runs/print-events.ts";

type Flags = OutputFlags & { idempotencyKey?: string };

/** Responses that scripts take as a failure although the request succeeded. */
const IS_FAILURE: Record<string, (response: Record<string, unknown>) => boolean> = {
  "provenance.verify": ({ result }) => result !== "intact",
};

/** What a change takes along, for a line on standard error before it is made. */
const CONSEQUENCES: Record<string, (client: Client, input: OperationInput) => Promise<string | undefined>> = {
  async "keys.revoke"(client, { key_id, keep_children, keep_keys }) {
    if (keep_children === true) return undefined;
    const { descendants } = await client.keys.get(String(key_id));
    if (descendants === 0) return undefined;
    const others = keep_keys === undefined ? "" : ", except those that you keep and what was created with them";
    return `Also revoked: ${descendants} ${descendants === 1 ? "key" : "keys"} created with it${others}.`;
  },
};

const refuseUpload: UploadFile = async () => {
  throw commandError("usage", "This field takes a URL or a run ID, not a file.");
};

export const printOperation = ({ command, flags, read }: OperationCommandLine): Promise<number> =>
  runCommand(
    command,
    () => resolveConnection(flags),
    async (connection) => {
      const client = createCliClient(connection);
      const { operation, values } = await read();
      const { idempotencyKey, ...own } = flags as Flags;
      const input = await buildInput({ operation, upload: refuseUpload }, values);
      const mode = selectOutputMode(own);
      if (operation.isStream) return printEvents(client.events.stream(input), mode);
      // A credential that may not read keys still revokes them.
      const consequence = await CONSEQUENCES[operation.name]?.(client, input).catch(() => undefined);
      if (consequence !== undefined) process.stderr.write(`${consequence}\n`);
      const options = idempotencyKey === undefined ? {} : { idempotencyKey };
      const response = await callOperation(client, operation, input, options);
      printResponse(operation.name, response, mode);
      return IS_FAILURE[operation.name]?.(response) === true ? EXIT_CODES.failed : EXIT_CODES.ok;
    },
  );
