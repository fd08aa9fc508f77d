// Parses `gesso.yaml`. All problems are reported at once, each with file, line and column.
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
  /** Lines such as `gesso.yaml:12:5 unknown provider x`, in the order of the file. */
  formatProblems(problems: CatalogueProblem[]): string[];
};

const TOP_LEVEL_KEYS = ["providers", "models"];

export function parseCatalogue(text: string, name: string): ParsedCatalogue {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const formatBy = (offsetOf: (problem: CatalogueProblem) => number) => (all: CatalogueProblem[]) =>
    all
      .map((problem) => ({ ...problem, offset: offsetOf(problem) }))
      .sort((a, b) => a.offset - b.offset)
      .map(({ offset, message }) => {
        const { line, col } = lines.linePos(offset);
        return `${name}:${line}:${col} ${message}`;
      });
  // A file that is not valid YAML has no structure to check, so only syntax errors are reported.
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ pos, message }) => ({ path: [pos[0]], message: message.split("\n")[0]! }));
    return { file: EMPTY_CATALOGUE, problems: problems, formatProblems: formatBy(({ path }) => Number(path[0])) };
  }
  const problems: CatalogueProblem[] = [];
  const file = parseRoot(document.toJS(), problems);
  return { file, problems: problems, formatProblems: formatBy((problem) => offsetOfProblem(document, problem)) };
}

function parseRoot(value: unknown, problems: CatalogueProblem[]): CatalogueFile {
  if (value === null || value === undefined) return EMPTY_CATALOGUE;
  if (!isMapping(value)) {
    problems.push({ path: [], message: "the file must be a mapping of providers and models" });
    return EMPTY_CATALOGUE;
  }
  for (const key of Object.keys(value).filter((each) => !TOP_LEVEL_KEYS.includes(each))) {
    problems.push({ path: [key], message: `unknown setting ${key}${suggestName(key, TOP_LEVEL_KEYS)}`, at: "key" });
  }
  return {
    providers: entriesOf(value, "providers", "a mapping of providers", problems).flatMap(([id, raw]) => {
      const path = ["providers", id];
      const settings = validate(ProviderSettings, isOnOff(raw) ? { enabled: raw } : (raw ?? {}), path, problems);
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
    const entry = validate(CatalogueEntry, expandShorthand(raw), at, problems);
    return entry ? [{ path: at, entry }] : [];
  });
}

/** `- fal` is short for `- provider: fal`, and `lifecycle: retired` for `lifecycle: { state: retired }`. */
function expandShorthand(raw: unknown): unknown {
  if (typeof raw === "string") return { provider: raw };
  return isMapping(raw) && typeof raw.lifecycle === "string" ? { ...raw, lifecycle: { state: raw.lifecycle } } : raw;
}

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isOnOff = (value: unknown) => typeof value === "boolean" || typeof value === "string";

function entriesOf(top: Record<string, unknown>, name: string, what: string, problems: CatalogueProblem[]) {
  const value = top[name];
  if (isMapping(value)) return Object.entries(value);
  if (value !== null && value !== undefined) problems.push({ path: [name], message: `${name} must be ${what}` });
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

function unknownKey(schema: z.ZodType, key: string, at: YamlPath, parents: PropertyKey[]): CatalogueProblem {
  const known = Object.keys(shapeOf(parents.reduce<z.ZodType>((each, step) => shapeOf(each)[String(step)]!, schema)));
  return { path: [...at, key], message: `unknown setting ${key}${suggestName(key, known)}`, at: "key" };
}

/** The fields of a mapping schema, inside optional and nullable wrappers. */
function shapeOf(schema: z.ZodType): Record<string, z.ZodType> {
  const { shape, unwrap } = schema as z.ZodType & { shape?: Record<string, z.ZodType>; unwrap?: () => z.ZodType };
  return shape ?? (unwrap ? shapeOf(unwrap()) : {});
}

/** The offset of the node at a path, or of the nearest existing parent. */
function offsetOfProblem(document: Document, { path, at }: CatalogueProblem): number {
  let node = document.contents as Node | null;
  let offset = node?.range?.[0] ?? 0;
  for (const [index, step] of path.entries()) {
    const resolved = isAlias(node) ? (node.resolve(document) ?? null) : node;
    const isLast = index === path.length - 1;
    const pair = isMap(resolved)
      ? resolved.items.find(({ key }) => (isScalar(key) ? String(key.value) : key) === String(step))
      : undefined;
    const key = pair?.key as Node | undefined;
    const value = (isSeq(resolved) ? resolved.items[Number(step)] : pair?.value) as Node | null | undefined;
    if (!key && !value) break;
    const found = (isLast && at === "key" ? key : value) ?? key;
    offset = found?.range?.[0] ?? offset;
    node = value ?? null;
  }
  return offset;
}
