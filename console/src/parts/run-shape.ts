// The shape and the number of a run's tiles before its files exist, so that nothing moves when they arrive.
import type { Run } from "@gesso/client";

type RunFacts = Pick<Run, "inputs" | "outputs">;

const numberOf = (value: unknown): number | undefined => (typeof value === "number" && value > 0 ? value : undefined);

/** Width divided by height: of the output, of the requested size, of the requested ratio, or 1. */
export function ratioOfRun({ inputs, outputs }: RunFacts, index = 0): number {
  const output = outputs[index];
  if (output?.width && output.height) return output.width / output.height;
  const [width, height] = [numberOf(inputs.width), numberOf(inputs.height)];
  if (width && height) return width / height;
  const [wide, high] = String(inputs.aspect_ratio ?? "")
    .split(":")
    .map(Number);
  return wide && high ? wide / high : 1;
}

/** How many files the run has or will have. */
export function tileCountOfRun({ inputs, outputs }: RunFacts): number {
  const results = outputs.filter(({ role }) => role === "result").length;
  return results || (numberOf(inputs.batch_size) ?? 1) * (numberOf(inputs.batch_count) ?? 1);
}
