// Runs an operation that creates no run, and prints its response.
import { buildInput, type UploadFile } from "./build-input.ts";
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

const refuseUpload: UploadFile = async () => {
  throw commandError("usage", "This field takes a URL or a run ID, not a file.");
};

export const printOperation = ({ command, flags, read }: OperationCommandLine): Promise<number> =>
  runCommand(
    command,
    () => resolveConnection(flags),
    async (connection) => {
      const client = createCliClient(connection);
      const { operation, values } = read();
      const { idempotencyKey, ...own } = flags as Flags;
      const input = await buildInput({ operation, upload: refuseUpload }, values);
      const mode = selectOutputMode(own);
      if (operation.isStream) return printEvents(client.events.stream(input), mode);
      const options = idempotencyKey === undefined ? {} : { idempotencyKey };
      const response = await callOperation(client, operation, input, options);
      printResponse(operation.name, response, mode);
      return IS_FAILURE[operation.name]?.(response) === true ? EXIT_CODES.failed : EXIT_CODES.ok;
    },
  );
