// `--estimate`: the response of `runs.estimate` for the same input. Creates no run and uploads no file.
import type { Client, Estimate, RunsEstimateInput } from "@gesso/client";
import { buildInput, type OperationInput } from "./build-input.ts";
import { pretendUpload, toEstimateInput } from "./estimate-input.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import type { OperationRequest } from "./operation-command.ts";
import {
  formatAmount,
  type OutputFlags,
  selectOutputMode,
  toHarmlessText,
  toJsonLine,
  writeData,
} from "./output/terminal.ts";

export async function estimateOperation(
  client: Client,
  { operation, values }: OperationRequest,
  flags: OutputFlags,
): Promise<number> {
  const input = toEstimateInput(operation, await buildInput({ operation, upload: pretendUpload }, values));
  const request = operation.pathFields ? await readRerun(client, input) : { operation: operation.name, input };
  printEstimate(await client.runs.estimate(request as unknown as RunsEstimateInput), flags);
  return EXIT_CODES.ok;
}

/** The request of the earlier run with its changes. */
async function readRerun(client: Client, { run_id, changes }: OperationInput) {
  const { operation, given, inputs } = await client.runs.get(String(run_id));
  return { operation, input: { ...(given ?? inputs), ...(changes as OperationInput | undefined) } };
}

function printEstimate(estimate: Estimate, flags: OutputFlags): void {
  const mode = selectOutputMode(flags);
  const amount = estimate.amount === null ? "unknown" : formatAmount(estimate.amount);
  if (mode === "quiet") writeData(String(estimate.amount ?? "unknown"));
  else if (mode !== "text") writeData(toJsonLine(estimate));
  if (mode !== "text") return;
  writeData(`Estimated cost: ${estimate.at_most && estimate.amount !== null ? "at most " : ""}${amount}`);
  for (const { what, quantity, unit_price } of estimate.basis)
    writeData(
      `  ${quantity} × ${unit_price === null ? "unknown price" : formatAmount(unit_price)}  ${toHarmlessText(what)}`,
    );
}
