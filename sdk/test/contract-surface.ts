// The surface of a contract that callers rely on: operation names, fields, required fields, allowed values, and every
// field of a response.
import { type Contract, listClientOperations, type Schema } from "../../scripts/generate/client-operations.ts";

type FieldType = unknown[] | string;
type OperationSurface = { required: string[]; fields: Record<string, FieldType>; answer: Record<string, FieldType> };
export type Surface = Record<string, OperationSurface>;

const kindOf = (schema: Schema): FieldType =>
  schema.enum ?? (schema.type || schema.anyOf ? typesOf(schema).join() : "any");

/** Without a type: a schema by its name. */
const typesOf = ({ type, anyOf }: Schema): unknown[] => (anyOf && !type ? anyOf.flatMap(typesOf) : [type]);

export function surfaceOf(contract: Contract): Surface {
  return Object.fromEntries(
    listClientOperations(contract).map(({ name, input, responseSchema: response }) => [
      name,
      {
        required: input.required ?? [],
        fields: Object.fromEntries(
          Object.entries(input.properties ?? {}).map(([field, schema]) => [field, kindOf(schema)]),
        ),
        answer: Object.fromEntries(fieldsOf(response, contract)),
      },
    ]),
  );
}

/** `data.run_id`, `outputs[].url`: those that are always there. */
function fieldsOf(given: Schema, contract: Contract, path = ""): [string, FieldType][] {
  const schema = resolved(given, contract);
  if (schema.type === "array" && schema.items) return fieldsOf(schema.items, contract, `${path}[]`);
  return Object.entries(schema.properties ?? {})
    .filter(([field]) => schema.required?.includes(field))
    .flatMap(([field, own]) => {
      const place = path ? `${path}.${field}` : field;
      // Values in a response may be added later, so only their type is compared.
      const { enum: _, ...plain } = resolved(own, contract);
      return [[place, kindOf(plain)] as [string, FieldType], ...fieldsOf(own, contract, place)];
    });
}

const resolved = (schema: Schema, { components }: Contract): Schema =>
  components.schemas[schema.$ref?.split("/").at(-1) ?? ""] ?? schema;

/** What worked with `before` and would not with `now`. */
export function findBreakingChanges(before: Surface, now: Surface): string[] {
  return Object.entries(before).flatMap(([name, old]) => {
    const own = now[name];
    if (!own) return [`${name} is gone`];
    const input = own.required
      .filter((field) => !old.required.includes(field))
      .map((field) => `${name} now asks for ${field}`);
    const removed = Object.entries(old.answer)
      .filter(([field, kind]) => String(own.answer[field]) !== String(kind))
      .map(([field, kind]) => `${name} no longer answers ${field} as ${kind}`);
    return [...input, ...findNarrowedFields(name, old.fields, own.fields), ...removed];
  });
}

function findNarrowedFields(
  name: string,
  before: OperationSurface["fields"],
  now: OperationSurface["fields"],
): string[] {
  return Object.entries(before).flatMap(([field, kind]) => {
    const other = now[field];
    if (other === undefined) return [`${name}.${field} is gone`];
    if (Array.isArray(kind)) {
      const gone = Array.isArray(other) ? kind.filter((word) => !other.includes(word)) : [];
      return gone.map((word) => `${name}.${field} no longer takes ${word}`);
    }
    const kinds = Array.isArray(other) ? [] : other.split(",");
    return kind.split(",").every((each) => kinds.includes(each)) ? [] : [`${name}.${field} is no longer any ${kind}`];
  });
}
