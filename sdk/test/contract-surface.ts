// What callers rely on, taken out of a contract: names, fields, what must be given, and the words that are allowed.
import { type Contract, type Schema, verbsOf } from "../../scripts/print/client-contract.ts";

export type Surface = Record<string, { required: string[]; fields: Record<string, unknown[] | string> }>;

const kindOf = ({ enum: words, type, anyOf }: Schema) =>
  words ?? String(type ?? anyOf?.map(({ type }) => type) ?? "any");

export function surfaceOf(contract: Contract): Surface {
  return Object.fromEntries(
    verbsOf(contract).map(({ name, input }) => [
      name,
      {
        required: input.required ?? [],
        fields: Object.fromEntries(
          Object.entries(input.properties ?? {}).map(([field, schema]) => [field, kindOf(schema)]),
        ),
      },
    ]),
  );
}

/** What worked with `before` and would not with `now`. */
export function broken(before: Surface, now: Surface): string[] {
  return Object.entries(before).flatMap(([name, old]) => {
    const own = now[name];
    if (!own) return [`${name} is gone`];
    const asked = own.required
      .filter((field) => !old.required.includes(field))
      .map((field) => `${name} now asks for ${field}`);
    const changed = Object.entries(old.fields).flatMap(([field, kind]) => {
      const other = own.fields[field];
      if (other === undefined) return [`${name}.${field} is gone`];
      if (!Array.isArray(kind))
        return other === kind || Array.isArray(other) === false ? [] : [`${name}.${field} is narrower`];
      const gone = Array.isArray(other) ? kind.filter((word) => !other.includes(word)) : [];
      return gone.map((word) => `${name}.${field} no longer takes ${word}`);
    });
    return [...asked, ...changed];
  });
}
