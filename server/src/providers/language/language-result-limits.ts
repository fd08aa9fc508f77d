// Bounds what a language model returns. A caller's prompt can instruct a model to write anything, so its output is text
// of a limited size that can be stored, and nothing else.
import type { JsonObject } from "../../contract/schemas/run.ts";

/** The longest prompt that operations accept, so that an enhanced prompt can be used as one. */
const MAX_TEXT_CODE_POINTS = 8000;
const MAX_ENTRIES = 100;
const MAX_ENTRY_CODE_POINTS = 500;

export const limitLanguageResult = (result: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(result).map(([name, value]) => [name, limit(value, MAX_TEXT_CODE_POINTS)]));

function limit(value: unknown, maxCodePoints: number): unknown {
  if (typeof value === "string") return limitText(value, maxCodePoints);
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map((entry) => limit(entry, MAX_ENTRY_CODE_POINTS));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, limit(each, maxCodePoints)]));
}

/** PostgreSQL can store neither NUL nor half of a surrogate pair. */
function limitText(text: string, maxCodePoints: number): string {
  const storable = text
    .slice(0, 2 * maxCodePoints)
    .replaceAll("\0", "")
    .toWellFormed();
  return storable.length <= maxCodePoints ? storable : [...storable].slice(0, maxCodePoints).join("");
}
