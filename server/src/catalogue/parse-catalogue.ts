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
  complaints: CatalogueProblem[];
  /** `gesso.yaml:12:5 what is wrong`, from the top of the file to its end. */
  formatProblems(complaints: CatalogueProblem[]): string[];
};

const TOP = ["providers", "models"];

export function parseCatalogue(text: string, name: string): ParsedCatalogue {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const tellBy = (offsetOf: (complaint: CatalogueProblem) => number) => (all: CatalogueProblem[]) =>
    all
      .map((complaint) => ({ ...complaint, offset: offsetOf(complaint) }))
      .sort((a, b) => a.offset - b.offset)
      .map(({ offset, says }) => {
        const { line, col } = lines.linePos(offset);
        return `${name}:${line}:${col} ${says}`;
      });
  // What is not YAML cannot be looked at any further, so these complaints stand alone.
  if (document.errors.length > 0) {
    const complaints = document.errors.map(({ pos, message }) => ({ path: [pos[0]], says: message.split("\n")[0]! }));
    return { file: EMPTY_CATALOGUE, complaints, formatProblems: tellBy(({ path }) => Number(path[0])) };
  }
  const complaints: CatalogueProblem[] = [];
  const file = parseRoot(document.toJS(), complaints);
  return { file, complaints, formatProblems: tellBy((complaint) => offsetOfProblem(document, complaint)) };
}

function parseRoot(value: unknown, complaints: CatalogueProblem[]): CatalogueFile {
  if (value === null || value === undefined) return EMPTY_CATALOGUE;
  if (!isMapping(value)) {
    complaints.push({ path: [], says: "the file is a mapping of providers and models" });
    return EMPTY_CATALOGUE;
  }
  for (const key of Object.keys(value).filter((each) => !TOP.includes(each))) {
    complaints.push({ path: [key], says: `unknown setting ${key}${suggestName(key, TOP)}`, at: "key" });
  }
  return {
    providers: entriesOf(value, "providers", "a mapping of providers", complaints).flatMap(([id, raw]) => {
      const path = ["providers", id];
      const settings = validate(ProviderSettings, isSwitch(raw) ? { enabled: raw } : (raw ?? {}), path, complaints);
      return settings ? [{ id, path, settings }] : [];
    }),
    models: entriesOf(value, "models", "a mapping of models", complaints).map(([model, raw]) => {
      const path = ["models", model];
      return { model, path, lines: parseEntries(raw, path, complaints) };
    }),
  };
}

function parseEntries(value: unknown, path: YamlPath, complaints: CatalogueProblem[]) {
  if (value === null) return [];
  if (!Array.isArray(value)) {
    complaints.push({ path, says: "a model must have a list of providers, one entry each, in order of preference" });
    return [];
  }
  return value.flatMap((raw: unknown, index) => {
    const at = [...path, index];
    const line = validate(CatalogueEntry, expandShorthand(raw), at, complaints);
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

function entriesOf(top: Record<string, unknown>, name: string, what: string, complaints: CatalogueProblem[]) {
  const value = top[name];
  if (isMapping(value)) return Object.entries(value);
  if (value !== null && value !== undefined) complaints.push({ path: [name], says: `${name} is ${what}` });
  return [];
}

function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  path: YamlPath,
  complaints: CatalogueProblem[],
) {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  for (const issue of error.issues) {
    const at = [...path, ...(issue.path as (string | number)[])];
    if (issue.code !== "unrecognized_keys") complaints.push({ path: at, says: issue.message });
    else complaints.push(...issue.keys.map((key) => unknownKey(schema, key, at, issue.path)));
  }
  return undefined;
}

function unknownKey(schema: z.ZodType, key: string, at: YamlPath, within: PropertyKey[]): CatalogueProblem {
  const known = Object.keys(shapeOf(within.reduce<z.ZodType>((each, step) => shapeOf(each)[String(step)]!, schema)));
  return { path: [...at, key], says: `unknown setting ${key}${suggestName(key, known)}`, at: "key" };
}

/** The fields of a mapping, below whatever says that it may be left out. */
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
