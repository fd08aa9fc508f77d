// Selects the fields that the caller provided. Gesso shows its own defaults in the run but does not send them to the
// provider, so that the defaults of the model apply.
import type { JsonObject } from "./schemas/run.ts";

/** The parsed values of the fields that the caller provided; undefined if the caller provided none of them. */
export function pickProvided(
  input: JsonObject,
  provided: JsonObject,
  fields: readonly string[],
): JsonObject | undefined {
  const set = fields.filter((field) => provided[field] !== undefined);
  return set.length > 0 ? Object.fromEntries(set.map((field) => [field, input[field]])) : undefined;
}
