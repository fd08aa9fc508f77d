// Reads `gesso.yaml` into what can be worked with, and turns whatever is wrong with it into sentences with their place.
// One wrong line does not hide the next: everything that is wrong is found at once.
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import type { z } from "zod";
import {
  CatalogueEntry,
  type CatalogueFile,
  type CatalogueProblem,
  EMPTY_CATALOGUE,
  ProviderSettings,
  type YamlPath,
} from "./catalogue-schema.ts";
import { suggestName } from "./did-you-mean.ts";

export type ParsedCatalogue = {
  file: CatalogueFile;
  problems: CatalogueProblem[];
  /** `gesso.yaml:12:5 what is wrong`, from the top of the file to its end. */
  formatProblems(problems: CatalogueProblem[]): string[];
};

const TOP = ["providers", "models"];

export function parseCatalogue(text: string, name: string): ParsedCatalogue {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const tellBy = (offsetOf: (problem: CatalogueProblem) => number) => (all: CatalogueProblem[]) =>
    all
      .map((problem) => ({ ...problem, offset: offsetOf(problem) }))
      .sort((a, b) => a.offset - b.offset)
      .map(({ offset, message }) => {
        const { line, col } = lines.linePos(offset);
        return `${name}:${line}:${col} ${message}`;
      });
  // What is not YAML cannot be looked at any further, so these problems stand alone.
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ pos, message }) => ({ path: [pos[0]], message: message.split("\n")[0]! }));
    return { file: EMPTY_CATALOGUE, problems: problems, formatProblems: tellBy(({ path }) => Number(path[0])) };
  }
  const problems: CatalogueProblem[] = [];
  const file = parseRoot(document.toJS(), problems);
  return { file, problems: problems, formatProblems: tellBy((problem) => offsetOfProblem(document, problem)) };
}

function parseRoot(value: unknown, problems: CatalogueProblem[]): CatalogueFile {
  if (value === null || value === undefined) return EMPTY_CATALOGUE;
  if (!isMapping(value)) {
    problems.push({ path: [], message: "the file is a mapping of providers and models" });
    return EMPTY_CATALOGUE;
  }
  for (const key of Object.keys(value).filter((each) => !TOP.includes(each))) {
    problems.push({ path: [key], message: `unknown setting ${key}${suggestName(key, TOP)}`, at: "key" });
  }
  return {
    providers: entriesOf(value, "providers", "a mapping of providers", problems).flatMap(([id, raw]) => {
      const path = ["providers", id];
      const settings = validate(ProviderSettings, isSwitch(raw) ? { enabled: raw } : (raw ?? {}), path, problems);
      return settings ? [{ id, path, settings }] : [];
    }),
    models: entriesOf(value, "models", "a mapping of models", problems).map(([model, raw]) => {
      const path = ["models", model];
      return { model, path, entries: parseEntries(raw, path, problems) };
    }),
  };
}

function parseEntries(value: unknown, path: YamlPath, problems: CatalogueProblem[]) {
  if (value === null) return [];
  if (!Array.isArray(value)) {
    problems.push({ path, message: "a model must have a list of providers, one entry each, in order of preference" });
    return [];
  }
  return value.flatMap((raw: unknown, index) => {
    const at = [...path, index];
    const line = validate(CatalogueEntry, expandShorthand(raw), at, problems);
    return line ? [{ path: at, line }] : [];
  });
}

/** `- fal` is short for `- provider: fal`, and `lifecycle: retired` for `lifecycle: { state: retired }`. */
function expandShorthand(raw: unknown): unknown {
  if (typeof raw === "string") return { provider: raw };
  return isMapping(raw) && typeof raw.lifecycle === "string" ? { ...raw, lifecycle: { state: raw.lifecycle } } : raw;
}

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isSwitch = (value: unknown) => typeof value === "boolean" || typeof value === "string";

function entriesOf(top: Record<string, unknown>, name: string, what: string, problems: CatalogueProblem[]) {
  const value = top[name];
  if (isMapping(value)) return Object.entries(value);
  if (value !== null && value !== undefined) problems.push({ path: [name], message: `${name} is ${what}` });
  return [];
}

function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  path: YamlPath,
  problems: CatalogueProblem[],
) {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  for (const issue of error.issues) {
    const at = [...path, ...(issue.path as (string | number)[])];
    if (issue.code !== "unrecognized_keys") problems.push({ path: at, message: issue.message });
    else problems.push(...issue.keys.map((key) => unknownKey(schema, key, at, issue.path)));
  }
  return undefined;
}

function unknownKey(schema: z.ZodType, key: string, at: YamlPath, within: PropertyKey[]): CatalogueProblem {
  const known = Object.keys(shapeOf(within.reduce<z.ZodType>((each, step) => shapeOf(each)[String(step)]!, schema)));
  return { path: [...at, key], message: `unknown setting ${key}${suggestName(key, known)}`, at: "key" };
}

/** The fields of a mapping, below whatever message that it may be left out. */
function shapeOf(schema: z.ZodType): Record<string, z.ZodType> {
  const { shape, unwrap } = schema as z.ZodType & { shape?: Record<string, z.ZodType>; unwrap?: () => z.ZodType };
  return shape ?? (unwrap ? shapeOf(unwrap()) : {});
}

/** The place of what a path leads to, or of the nearest thing on the way that is there. */
function offsetOfProblem(document: Document, { path, at }: CatalogueProblem): number {
  let node = document.contents as Node | null;
  let offset = node?.range?.[0] ?? 0;
  for (const [index, step] of path.entries()) {
    const whole = isAlias(node) ? (node.resolve(document) ?? null) : node;
    const isLast = index === path.length - 1;
    const pair = isMap(whole)
      ? whole.items.find(({ key }) => (isScalar(key) ? String(key.value) : key) === String(step))
      : undefined;
    const key = pair?.key as Node | undefined;
    const value = (isSeq(whole) ? whole.items[Number(step)] : pair?.value) as Node | null | undefined;
    if (!key && !value) break;
    const found = (isLast && at === "key" ? key : value) ?? key;
    offset = found?.range?.[0] ?? offset;
    node = value ?? null;
  }
  return offset;
}
