// `--estimate`: the response of `runs.estimate` for the same input. Creates no run and uploads no file.
import type { Client, Estimate, RunsEstimateInput } from "@gesso/client";
import { buildInput } from "./build-input.ts";
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
  const estimate = await client.runs.estimate({ operation: operation.name, input } as unknown as RunsEstimateInput);
  printEstimate(estimate, flags);
  return EXIT_CODES.ok;
}

function printEstimate(estimate: Estimate, flags: OutputFlags): void {
  const mode = selectOutputMode(flags);
  const amount = estimate.amount === null ? "unknown" : formatAmount(estimate.amount);
  if (mode === "quiet") writeData(String(estimate.amount ?? "unknown"));
  else if (mode !== "text") writeData(toJsonLine(estimate));
  if (mode !== "text") return;
  writeData(`Estimated cost: ${amount}`);
  for (const { what, quantity, unit_price } of estimate.basis)
    writeData(
      `  ${quantity} × ${unit_price === null ? "unknown price" : formatAmount(unit_price)}  ${toHarmlessText(what)}`,
    );
}
