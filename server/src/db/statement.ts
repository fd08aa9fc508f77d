// SQL statements with named parameters. `statement` compiles `:name` to `$n` once, when its module is loaded; `npm
// run check` prepares every statement on a real PostgreSQL and derives the types of its parameters and rows from the
// schema.
import type { StatementTypes } from "./generated/statements.ts";

type StatementName = keyof StatementTypes;
type ParametersOf<Name extends StatementName> = StatementTypes[Name]["parameters"];
type RowOf<Name extends StatementName> = StatementTypes[Name]["row"];

export type CompiledStatement = {
  /** The name under which PostgreSQL prepares the statement; it appears in logs. */
  readonly name: string;
  /** The text with `$1`, `$2`, … */
  readonly text: string;
  /** The name of each parameter, in the order of its number. */
  readonly parameterNames: readonly string[];
  /** Parameters marked `:name?`, which may be null. */
  readonly nullableNames: ReadonlySet<string>;
};

export type Statement<Parameters, Row> = CompiledStatement & {
  /** Only for the compiler; never called. */
  readonly types?: (parameters: Parameters) => Row;
  /**
   * Narrows the types of computed columns, of which the schema does not know whether they are null or what their JSON
   * contains. The compiler refuses unknown columns, and types that are not narrower than the ones from the schema.
   */
  columns<Columns extends Narrowing<Row, Columns>>(): Statement<Parameters, Omit<Row, keyof Columns> & Columns>;
};
type Narrowing<Row, Columns> = Partial<Row> & { [Column in Exclude<keyof Columns, keyof Row>]: never };

/** Every statement of the modules loaded so far, by its key in `StatementTypes`. */
export const registeredStatements = new Map<string, CompiledStatement[]>();

export function statement<Name extends StatementName>(
  name: Name,
  text: string,
): Statement<ParametersOf<Name>, RowOf<Name>> {
  return register(name, name, text);
}

/**
 * A finite set of variants of one statement, each prepared under its own name and therefore with its own plan.
 * Parameters and columns that only some variants have are optional.
 */
export function statementVariants<Name extends StatementName>(name: Name, texts: Record<string, string>) {
  return new Map(
    Object.entries(texts).map(([variant, text]) => [
      variant,
      register<ParametersOf<Name>, RowOf<Name>>(name, `${name}.${variant}`, text),
    ]),
  );
}

function register<Parameters, Row>(key: string, name: string, text: string): Statement<Parameters, Row> {
  const compiled: Statement<Parameters, Row> = { name, ...compile(text), columns: () => compiled as never };
  const others = registeredStatements.get(key) ?? [];
  if (others.some((other) => other.name === name)) throw new Error(`two statements are named ${name}`);
  registeredStatements.set(key, [...others, compiled]);
  return compiled;
}

/** String literals, quoted identifiers, comments and casts are skipped. `:name` and `:name?` are parameters. */
const TOKENS = /'(?:[^']|'')*'|"[^"]*"|--[^\n]*|::|:([a-z][a-z0-9_]*)(\?)?/g;

function compile(source: string): Pick<CompiledStatement, "text" | "parameterNames" | "nullableNames"> {
  const numbers = new Map<string, number>();
  const nullableNames = new Set<string>();
  const text = source.replace(TOKENS, (token, name: string | undefined, mark: string | undefined) => {
    if (name === undefined) return token;
    if (mark) nullableNames.add(name);
    if (!numbers.has(name)) numbers.set(name, numbers.size + 1);
    return `$${numbers.get(name)}`;
  });
  return { text, parameterNames: [...numbers.keys()], nullableNames };
}

/** The values in the order of their numbers; `values` is an object, or undefined if the statement has no parameters. */
export function bindParameters({ parameterNames }: CompiledStatement, values: unknown): unknown[] {
  const byName = values as Record<string, unknown>;
  return parameterNames.map((name) => byName[name]);
}
