// The contract as a file, in a form that is pleasant to compare: one property to a line.
import { GENERATED_NOTICE } from "./markdown.ts";

export function generateOpenApiFile(contract: Record<string, unknown>): string {
  const { openapi, ...rest } = contract;
  return `${JSON.stringify({ openapi, "x-printed": GENERATED_NOTICE, ...rest }, null, 2)}\n`;
}
