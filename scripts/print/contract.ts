// The contract as a file, in a form that is pleasant to compare: one property to a line.
import { PRINTED } from "./page.ts";

export function printContract(contract: Record<string, unknown>): string {
  const { openapi, ...rest } = contract;
  return `${JSON.stringify({ openapi, "x-printed": PRINTED, ...rest }, null, 2)}\n`;
}
