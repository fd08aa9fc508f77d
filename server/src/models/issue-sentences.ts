// The sentences about values that do not fit a keyword of a schema, in the words that all field errors of the API have.

const MAX_VALUES = 20;
const MAX_CHARACTERS = 100;

const TYPE_NAMES: Record<string, string> = {
  string: "a string",
  number: "a number",
  integer: "an integer",
  boolean: "true or false",
  array: "an array",
  object: "an object",
  null: "null",
};

const join = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;

/** Such as "an object, a string or null". */
export const nameTypes = (types: readonly string[]): string => join(types.map((type) => TYPE_NAMES[type] ?? type));

const show = (value: unknown): string => {
  const text = typeof value === "string" && value !== "" ? value : JSON.stringify(value);
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
};

/** Such as "one of 4s, 6s, 8s". Of a long list the first values. */
export function describeValues(values: readonly unknown[]): string {
  if (values.length === 1) return show(values[0]);
  const more = values.length - MAX_VALUES;
  const listed = values.slice(0, MAX_VALUES).map(show).join(", ");
  return `one of ${listed}${more > 0 ? ` and ${more} more` : ""}`;
}

type Params = Record<string, unknown>;
type Sentence = { code: string; message: string };
type Limit = (params: Params) => Sentence;

const plural = (count: unknown, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
const range =
  (words: string): Limit =>
  ({ limit }) => ({ code: "out_of_range", message: `Must be ${words} ${limit}.` });
const size =
  (code: string, words: string, noun: string): Limit =>
  ({ limit }) => ({
    code,
    message: `Must have ${words} ${plural(limit, noun)}.`,
  });

/** By the keyword that a value does not fit. */
export const LIMITS: Record<string, Limit> = {
  minimum: range("at least"),
  maximum: range("at most"),
  exclusiveMinimum: range("more than"),
  exclusiveMaximum: range("less than"),
  multipleOf: ({ multipleOf }) => ({ code: "out_of_range", message: `Must be a multiple of ${multipleOf}.` }),
  minLength: size("out_of_range", "at least", "character"),
  maxLength: size("too_long", "at most", "character"),
  minItems: size("too_few_items", "at least", "item"),
  maxItems: size("too_many_items", "at most", "item"),
  items: size("too_many_items", "at most", "item"),
  unevaluatedItems: size("too_many_items", "at most", "item"),
  minProperties: size("too_few_items", "at least", "field"),
  maxProperties: size("too_many_items", "at most", "field"),
  contains: () => ({ code: "unknown_value", message: "Lacks an item that it must have." }),
  uniqueItems: () => ({ code: "unknown_value", message: "Must not have the same item twice." }),
  pattern: ({ pattern }) => ({ code: "unknown_value", message: `Must match the pattern ${show(pattern)}.` }),
  "false schema": () => ({ code: "unknown_field", message: "This field must not be given." }),
};
