// Forms and query strings carry only text: it is read by the type that the operation's schema gives the field. What does
// not read as that type is left as it is, so that the validator tells about it.
import { z } from "zod";
import type { Operation } from "../kit/operation.ts";
import type { JsonObject } from "../kit/schemas/run.ts";

type JsonSchemaProperty = { type?: string | string[]; anyOf?: JsonSchemaProperty[]; items?: JsonSchemaProperty };

const known = new WeakMap<Operation, Record<string, JsonSchemaProperty>>();

export function inputProperties(operation: Operation): Record<string, JsonSchemaProperty> {
  const cached = known.get(operation);
  if (cached) return cached;
  const schema = z.toJSONSchema(operation.input, { io: "input", unrepresentable: "any" }) as { properties?: object };
  const properties = (schema.properties ?? {}) as Record<string, JsonSchemaProperty>;
  known.set(operation, properties);
  return properties;
}

export function coerceTextFields(operation: Operation, raw: JsonObject): JsonObject {
  const properties = inputProperties(operation);
  return Object.fromEntries(
    Object.entries(raw).map(([field, value]) => {
      const property = properties[field];
      if (property?.type === "array") return [field, coerceList(property.items, value)];
      return [field, typeof value === "string" ? coerceText(property, value) : value];
    }),
  );
}

/** A list comes as one JSON text, as a name that is repeated, or as both; its entries stay in the order they came in. */
function coerceList(items: JsonSchemaProperty | undefined, value: unknown): unknown {
  const isJson = (part: unknown) => typeof part === "string" && (items?.type !== "string" || /^\s*\[/.test(part));
  const parts = [value].flat().map((part) => (isJson(part) ? parseJsonOrText(part as string) : part));
  // A text that should have been a list and is none stays as it came, for the validator to tell about.
  return parts.length === 1 && isJson(parts[0]) ? parts[0] : parts.flat();
}

function coerceText(property: JsonSchemaProperty | undefined, text: string): unknown {
  const types = [property?.type, ...(property?.anyOf ?? []).map((each) => each.type)].flat();
  if ((types.includes("integer") || types.includes("number")) && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text))
    return Number(text);
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  if (types.includes("array") || types.includes("object")) return parseJsonOrText(text);
  return text;
}

function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
