// Forms and query strings carry only text: it is read by the type that the operation's schema gives the field. What does
// not read as that type is left as it is, so that the validator tells about it.
import { z } from "zod";
import type { Operation } from "../kit/operation.ts";
import type { Json } from "../kit/shapes.ts";

type Property = { type?: string | string[]; anyOf?: Property[]; items?: Property };

const known = new WeakMap<Operation, Record<string, Property>>();

export function propertiesOf(operation: Operation): Record<string, Property> {
  const cached = known.get(operation);
  if (cached) return cached;
  const schema = z.toJSONSchema(operation.input, { io: "input", unrepresentable: "any" }) as { properties?: object };
  const properties = (schema.properties ?? {}) as Record<string, Property>;
  known.set(operation, properties);
  return properties;
}

export function coerce(operation: Operation, raw: Json): Json {
  const properties = propertiesOf(operation);
  return Object.fromEntries(
    Object.entries(raw).map(([field, value]) => {
      const property = properties[field];
      if (property?.type === "array") return [field, readList(property.items, value)];
      return [field, typeof value === "string" ? readAs(property, value) : value];
    }),
  );
}

/** A list comes as one JSON text, as a name that is repeated, or as both; its entries stay in the order they came in. */
function readList(items: Property | undefined, value: unknown): unknown {
  const isJson = (part: unknown) => typeof part === "string" && (items?.type !== "string" || /^\s*\[/.test(part));
  const parts = [value].flat().map((part) => (isJson(part) ? parseOr(part as string) : part));
  // A text that should have been a list and is none stays as it came, for the validator to tell about.
  return parts.length === 1 && isJson(parts[0]) ? parts[0] : parts.flat();
}

function readAs(property: Property | undefined, text: string): unknown {
  const types = [property?.type, ...(property?.anyOf ?? []).map((each) => each.type)].flat();
  if ((types.includes("integer") || types.includes("number")) && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text))
    return Number(text);
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  if (types.includes("array") || types.includes("object")) return parseOr(text);
  return text;
}

function parseOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
