// What the caller really said. A default of ours is shown in a run, but a model's own default is not overridden by it.
import type { Json } from "./shapes.ts";

/** Those of the fields that the caller set, with the values that were read from them; nothing where there are none. */
export function givenOf(input: Json, given: Json, fields: readonly string[]): Json | undefined {
  const set = fields.filter((field) => given[field] !== undefined);
  return set.length > 0 ? Object.fromEntries(set.map((field) => [field, input[field]])) : undefined;
}
