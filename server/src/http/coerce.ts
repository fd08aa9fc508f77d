// Converts the text fields of forms and query strings to the types of the operation's schema. Text that does not
// convert is left as it is, and validation reports it.
import { z } from "zod";
import type { Operation } from "../contract/operation.ts";
import type { JsonObject } from "../contract/schemas/run.ts";

type JsonSchemaProperty = {
  type?: string | string[];
  anyOf?: JsonSchemaProperty[];
  items?: JsonSchemaProperty;
  $ref?: string;
};

/** Every schema with a name of its own is an object. */
const typesOf = (property: JsonSchemaProperty | undefined) =>
  [property?.type, ...(property?.anyOf ?? []).map(({ $ref, type }) => ($ref ? "object" : type))].flat();

const propertiesByOperation = new WeakMap<Operation, Record<string, JsonSchemaProperty>>();

export function inputProperties(operation: Operation): Record<string, JsonSchemaProperty> {
  const cached = propertiesByOperation.get(operation);
  if (cached) return cached;
  const schema = z.toJSONSchema(operation.input, { io: "input", unrepresentable: "any" }) as { properties?: object };
  const properties = (schema.properties ?? {}) as Record<string, JsonSchemaProperty>;
  propertiesByOperation.set(operation, properties);
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

/** A list is a JSON array, a repeated field, or both. The order of the entries is preserved. */
function coerceList(items: JsonSchemaProperty | undefined, value: unknown): unknown {
  const isText = typesOf(items).includes("string");
  const isJson = (part: unknown) => typeof part === "string" && (!isText || /^\s*[[{]/.test(part));
  const parts = [value].flat().map((part) => (isJson(part) ? parseJsonOrText(part as string) : part));
  // Text that is not a list stays as it is, and validation reports it.
  return parts.length === 1 && isJson(parts[0]) ? parts[0] : parts.flat();
}

function coerceText(property: JsonSchemaProperty | undefined, text: string): unknown {
  const types = typesOf(property);
  if ((types.includes("integer") || types.includes("number")) && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text))
    return Number(text);
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  // Of text or an object, only what begins like an object is JSON: base64 text is long.
  if (types.includes("array") || types.includes("object"))
    return types.includes("string") && !/^\s*\{/.test(text) ? text : parseJsonOrText(text);
  return text;
}

function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
