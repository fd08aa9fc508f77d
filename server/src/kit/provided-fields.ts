// Fields that the caller provided, without defaults. Gesso's defaults are shown in the run but not sent to the provider, so the model's own defaults apply.
import type { JsonObject } from "./schemas/run.ts";

/** Those of the fields that the caller set, with the values that were read from them; nothing where there are none. */
export function pickProvided(input: JsonObject, given: JsonObject, fields: readonly string[]): JsonObject | undefined {
  const set = fields.filter((field) => given[field] !== undefined);
  return set.length > 0 ? Object.fromEntries(set.map((field) => [field, input[field]])) : undefined;
}
