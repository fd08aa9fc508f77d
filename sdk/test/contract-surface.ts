// What callers rely on, taken out of a contract: names, fields, what must be given, the words that are allowed, and every
// field of an answer.
import { type Contract, type Schema, verbsOf } from "../../scripts/print/client-contract.ts";

type Kind = unknown[] | string;
type Verb = { required: string[]; fields: Record<string, Kind>; answer: Record<string, Kind> };
export type Surface = Record<string, Verb>;

const kindOf = ({ enum: words, type, anyOf }: Schema): Kind =>
  words ?? String(type ?? anyOf?.map(({ type }) => type) ?? "any");

export function surfaceOf(contract: Contract): Surface {
  return Object.fromEntries(
    verbsOf(contract).map(({ name, input, answer }) => [
      name,
      {
        required: input.required ?? [],
        fields: Object.fromEntries(
          Object.entries(input.properties ?? {}).map(([field, schema]) => [field, kindOf(schema)]),
        ),
        answer: Object.fromEntries(fieldsOf(answer, contract)),
      },
    ]),
  );
}

/** `data.run_id`, `outputs[].url`: those that are always there. */
function fieldsOf(given: Schema, contract: Contract, path = ""): [string, Kind][] {
  const schema = resolved(given, contract);
  if (schema.type === "array" && schema.items) return fieldsOf(schema.items, contract, `${path}[]`);
  return Object.entries(schema.properties ?? {})
    .filter(([field]) => schema.required?.includes(field))
    .flatMap(([field, own]) => {
      const place = path ? `${path}.${field}` : field;
      // What an answer may say is open, so its words are no promise; its kind is.
      const { enum: _, ...plain } = resolved(own, contract);
      return [[place, kindOf(plain)] as [string, Kind], ...fieldsOf(own, contract, place)];
    });
}

const resolved = (schema: Schema, { components }: Contract): Schema =>
  components.schemas[schema.$ref?.split("/").at(-1) ?? ""] ?? schema;

/** What worked with `before` and would not with `now`. */
export function broken(before: Surface, now: Surface): string[] {
  return Object.entries(before).flatMap(([name, old]) => {
    const own = now[name];
    if (!own) return [`${name} is gone`];
    const asked = own.required
      .filter((field) => !old.required.includes(field))
      .map((field) => `${name} now asks for ${field}`);
    const told = Object.entries(old.answer)
      .filter(([field, kind]) => String(own.answer[field]) !== String(kind))
      .map(([field, kind]) => `${name} no longer answers ${field} as ${kind}`);
    return [...asked, ...narrower(name, old.fields, own.fields), ...told];
  });
}

function narrower(name: string, before: Verb["fields"], now: Verb["fields"]): string[] {
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
