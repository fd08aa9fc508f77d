// JSON merge patch (RFC 7396): null removes a field, objects are merged field by field, and every other value replaces
// the one before.
import type { JsonObject } from "./schemas/run.ts";

export function applyMergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const changed = Object.entries(patch).flatMap(([field, value]) => {
    if (value === null) return [];
    const before = Object.hasOwn(target, field) ? target[field] : undefined;
    return [[field, isObject(value) ? applyMergePatch(isObject(before) ? before : {}, value) : value] as const];
  });
  const kept = Object.entries(target).filter(([field]) => !Object.hasOwn(patch, field));
  return Object.fromEntries([...kept, ...changed]);
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
