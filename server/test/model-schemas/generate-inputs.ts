// Generates inputs from the normalized schema of a model: valid ones, and the ways in which such an input can be wrong
// in exactly one place. It knows the schema only by the rules of JSON Schema and uses nothing of the product, so that
// both can contradict each other.
import fc from "fast-check";

export type Schema = { [key: string]: any };
type Path = (string | number)[];

/** Deeper objects have their required fields only, and deeper lists are empty: a schema can refer to itself. */
const FULL_LEVELS = 5;
const MAX_ITEMS = 3;
const MAX_NUMBER = 1_000_000;

/** Texts that have a meaning somewhere in Gesso and are only texts here. */
const ODD_TEXTS = [
  ...["null", "[object Object]", "%00", "{{7}}", "\u202e gnp.a", "👨‍👩‍👧‍👦", "e\u0301", "\ufeff", "\r\nX: y", "a boat"],
  ...["asset:00000000-0000-4000-8000-000000000000", "00000000-0000-4000-8000-000000000000"],
  ...["https://example.com/a.png", "data:image/png;base64,AAAA", "@/etc/passwd", '"\\', "\u2028"],
];

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const find = (root: Schema, schema: Schema): Schema =>
  typeof schema.$ref === "string" ? find(root, root.$defs[schema.$ref.slice("#/$defs/".length)]) : schema;

/** Any input that the schema permits. Files are texts like others. */
export function validInputs(root: Schema): fc.Arbitrary<Schema> {
  const known = new Map<Schema, fc.Arbitrary<unknown>[]>();

  const build = (raw: Schema | boolean, level: number): fc.Arbitrary<unknown> => {
    if (!isObject(raw)) return fc.jsonValue({ maxDepth: 2 });
    const schema = find(root, raw);
    const levels = known.get(schema) ?? [];
    known.set(schema, levels);
    levels[level] ??= buildValue(schema, level).map((value) => withoutLonely(schema, value));
    return levels[level];
  };

  const buildValue = (schema: Schema, level: number): fc.Arbitrary<unknown> => {
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (schema.allOf) {
      const { allOf, ...own } = schema;
      const parts: Schema[] = own.properties ? [...allOf, own] : allOf;
      return fc.tuple(...parts.map((part) => build(part, level))).map((each) => Object.assign({}, ...each));
    }
    const forms = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
    if (forms) {
      const shallow = level > FULL_LEVELS ? forms.slice(-1) : forms;
      const { anyOf: _any, oneOf: _one, ...own } = schema;
      const ofForm = fc.oneof(...shallow.map((form) => build(form, level)));
      if (!own.properties) return ofForm;
      return fc.tuple(build(own, level), ofForm).map((each) => Object.assign({}, ...each));
    }
    const types = [schema.type ?? (schema.properties ? "object" : [])].flat() as string[];
    if (types.length === 0) return fc.jsonValue({ maxDepth: 2 });
    return fc.oneof(...types.map((type) => buildTyped(type, schema, level)));
  };

  const buildTyped = (type: string, schema: Schema, level: number): fc.Arbitrary<unknown> => {
    switch (type) {
      case "object":
        return buildObject(schema, level);
      case "array":
        return buildList(schema, level);
      case "string":
        return buildText(schema);
      case "integer":
      case "number":
        return buildNumber(type, schema);
      case "boolean":
        return fc.boolean();
      default:
        return fc.constant(null);
    }
  };

  const buildObject = (schema: Schema, level: number): fc.Arbitrary<unknown> => {
    const required = (schema.required ?? []) as string[];
    const fields = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
    const wanted = fields.filter(([name]) => level <= FULL_LEVELS || required.includes(name));
    const record = fc.record(Object.fromEntries(wanted.map(([name, each]) => [name, build(each, level + 1)])), {
      requiredKeys: required.filter((name) => Object.hasOwn(schema.properties ?? {}, name)),
    });
    const more = schema.additionalProperties;
    if (more === undefined || more === false || level > FULL_LEVELS) return record;
    // No name of a field: its value would have to fit that field.
    const pattern = schema.propertyNames?.pattern ?? "^more [a-z]{1,6}$";
    const names = fc.stringMatching(new RegExp(pattern, "u"));
    return fc
      .tuple(fc.dictionary(names, build(more, level + 1), { maxKeys: 2 }), record)
      .map((each) => Object.assign({}, ...each));
  };

  const buildList = (schema: Schema, level: number): fc.Arbitrary<unknown> => {
    const minLength = schema.minItems ?? 0;
    const maxLength = level > FULL_LEVELS ? minLength : Math.min(schema.maxItems ?? MAX_ITEMS, minLength + MAX_ITEMS);
    if (schema.prefixItems) return fc.tuple(...schema.prefixItems.map((each: Schema) => build(each, level + 1)));
    const items = build(schema.items ?? true, level + 1);
    return schema.uniqueItems
      ? fc.uniqueArray(items, { minLength, maxLength })
      : fc.array(items, { minLength, maxLength });
  };

  return build(root, 0) as fc.Arbitrary<Schema>;
}

/** Without the fields that need another one that is not there. */
function withoutLonely({ dependentRequired = {} }: Schema, value: unknown): unknown {
  const lonely = Object.entries(dependentRequired as Record<string, string[]>).filter(
    ([name, needed]) => isObject(value) && name in value && !needed.every((each) => each in value),
  );
  if (lonely.length === 0) return value;
  return Object.fromEntries(Object.entries(value as Schema).filter(([key]) => lonely.every(([name]) => name !== key)));
}

/** fast-check takes long to make a generator of texts, and most have the same bounds. */
const texts = new Map<string, fc.Arbitrary<string>>();

function buildText({ minLength = 0, maxLength, pattern }: Schema): fc.Arbitrary<string> {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern, "u"));
  const longest = Math.min(maxLength ?? minLength + 40, minLength + 40);
  const key = `${minLength} ${longest}`;
  const known = texts.get(key) ?? makeTexts(minLength, longest);
  texts.set(key, known);
  return known;
}

function makeTexts(minLength: number, maxLength: number): fc.Arbitrary<string> {
  // A length counts code points. The contract refuses NUL in every text.
  const isFitting = (text: string) => [...text].length >= minLength && [...text].length <= maxLength;
  const any = fc.string({ unit: "binary", minLength, maxLength }).map((text) => text.replaceAll("\0", "x"));
  const ascii = fc.string({ unit: "grapheme-ascii", minLength, maxLength });
  return fc.oneof(fc.constantFrom(...ODD_TEXTS), any, ascii).filter(isFitting);
}

function buildNumber(type: string, schema: Schema): fc.Arbitrary<number> {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const isWhole = type === "integer" || multipleOf !== undefined;
  const step = multipleOf ?? 1;
  const low = Math.max(minimum ?? -MAX_NUMBER, exclusiveMinimum ?? -MAX_NUMBER);
  const high = Math.min(maximum ?? Math.max(MAX_NUMBER, low), exclusiveMaximum ?? Number.POSITIVE_INFINITY);
  const isInside = (value: number) => value !== exclusiveMinimum && value !== exclusiveMaximum;
  const whole = fc
    .integer({ min: Math.ceil(low / step), max: Math.floor(high / step) })
    .map((count) => count * step)
    .filter(isInside);
  // JSON has no negative zero.
  const fraction = fc
    .double({ min: low, max: high, noNaN: true })
    .map((value) => value + 0)
    .filter(isInside);
  return isWhole ? whole : fc.oneof(whole, fraction);
}

/** `path` is the place that is wrong: a pointer to it, or to something in it, is expected. */
export type WrongInput = { kind: string; input: Schema; path: Path };

/** Every way in which this valid input can be wrong in one place, as far as the schema leaves no doubt about it. */
export function listWrongInputs(root: Schema, input: Schema): WrongInput[] {
  const wrong: WrongInput[] = [];
  const add = (kind: string, path: Path, value: unknown) =>
    wrong.push({ kind, path, input: setAt(input, path, value) as Schema });

  const visit = (raw: unknown, value: unknown, path: Path): void => {
    const schema = isObject(raw) ? onlyForm(root, raw, value) : undefined;
    if (!schema) return;
    if (path.length > 0) for (const { kind, value: other } of listOtherValues(schema, value)) add(kind, path, other);
    if (Array.isArray(value)) for (const [index, each] of value.entries()) visit(schema.items, each, [...path, index]);
    if (!isObject(value) || !schema.properties) return;
    if (schema.additionalProperties === false) {
      for (const name of listMisspelt(Object.keys(schema.properties))) add("misspelt", [...path, name], 1);
    }
    for (const name of schema.required ?? []) add("missing", [...path, name], undefined);
    for (const [name, each] of Object.entries(value)) visit(schema.properties[name], each, [...path, name]);
  };
  visit(root, input, []);
  return wrong;
}

/** The form of the schema that decides about the value. Undefined if several can. */
function onlyForm(root: Schema, raw: Schema, value: unknown): Schema | undefined {
  const schema = find(root, raw);
  if (schema.allOf || schema.if) return undefined;
  const forms = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  if (!forms) return schema;
  const others = forms.map((form) => find(root, form)).filter(({ type }) => type !== "null");
  return others.length === 1 && value !== null ? onlyForm(root, others[0]!, value) : undefined;
}

function* listMisspelt(names: string[]): Generator<string> {
  yield "misspelt_field";
  const [name] = names.filter((each) => each.length > 3);
  for (const other of name ? [`${name}s`, name.toUpperCase(), `${name} `, name.slice(1)] : []) {
    if (!names.includes(other)) yield other;
  }
}

/** Values of another type, and values just beyond a bound. */
function* listOtherValues(schema: Schema, value: unknown): Generator<{ kind: string; value: unknown }> {
  const types = [schema.type ?? []].flat() as string[];
  if (types.length === 0) return;
  const other = types.includes("object") ? 7 : { misspelt_field: [[]] };
  if (!(types.includes("object") && types.includes("number"))) yield { kind: "type", value: other };
  if (schema.enum && typeof value === "string" && !schema.enum.includes(`${value}?`)) {
    yield { kind: "value", value: `${value}?` };
  }
  if (typeof value === "number") {
    if (schema.minimum !== undefined) yield { kind: "bound", value: schema.minimum - 1 };
    if (schema.maximum !== undefined) yield { kind: "bound", value: schema.maximum + 1 };
    if (schema.exclusiveMinimum !== undefined) yield { kind: "bound", value: schema.exclusiveMinimum };
    if (types.includes("integer") && !types.includes("number")) yield { kind: "type", value: value + 0.5 };
  }
  if (Array.isArray(value) && schema.maxItems !== undefined && value.length > 0) {
    yield { kind: "bound", value: Array.from({ length: schema.maxItems + 1 }, () => value[0]) };
  }
}

/** A copy with another value at the path. undefined removes it. */
function setAt(root: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value;
  if (Array.isArray(root)) return root.map((each, index) => (index === key ? setAt(each, rest, value) : each));
  const { [key]: old, ...others } = root as Schema;
  const changed = rest.length === 0 ? value : setAt(old, rest, value);
  if (changed === undefined) return others;
  // A field keeps its place among the others.
  return Object.hasOwn(root as Schema, key) ? { ...(root as Schema), [key]: changed } : { ...others, [key]: changed };
}
