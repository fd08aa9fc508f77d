// Generates the OpenAPI file, with one property per line for readable diffs.
import { GENERATED_NOTICE } from "./markdown.ts";

export function generateOpenApiFile(contract: Record<string, unknown>): string {
  const { openapi, ...rest } = contract;
  return `${JSON.stringify({ openapi, "x-printed": GENERATED_NOTICE, ...rest }, null, 2)}\n`;
}
