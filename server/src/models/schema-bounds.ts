// Bounds of imported documents and schemas, judged before a validator is compiled. A schema within them compiles in
// well under a second and judges any input within the bounds of inputs in a time that is proportional to the input.
import type { JsonObject } from "../contract/schemas/run.ts";
import { isPattern } from "./patterns.ts";
import { findDefinition, isObject, listInnerParts, listSameValueParts } from "./schema-parts.ts";

/** Inputs have no more levels, see `input-bounds.ts`: deeper parts of a schema are never reached. */
export const MAX_INPUT_LEVELS = 16;

const MAX_DOCUMENT_BYTES = 1_048_576;
const MAX_DOCUMENT_LEVELS = 100;
const MAX_BYTES = 262_144;
const MAX_LEVELS = 32;
const MAX_PROPERTIES = 1_000;
const MAX_ENUM_VALUES = 5_000;
const MAX_EXPANDED = 10_000;
const MAX_PATTERNS = 50;
const MAX_PATTERN_CHARACTERS = 256;

/**
 * Why a document is not read, as a sentence for the operator. Works without recursion, and stops at the first bound.
 */
export function findDocumentProblem(document: unknown): string | undefined {
  let bytes = 0;
  let level: unknown[] = [document];
  for (let levels = 0; level.length > 0; levels++) {
    if (levels > MAX_DOCUMENT_LEVELS) return `The document has more than ${MAX_DOCUMENT_LEVELS} levels.`;
    const next: unknown[] = [];
    for (const value of level) {
      bytes += sizeOf(value);
      if (bytes > MAX_DOCUMENT_BYTES) return `The document has more than ${MAX_DOCUMENT_BYTES} bytes.`;
      if (typeof value === "object" && value !== null) for (const each of Object.values(value)) next.push(each);
    }
    level = next;
  }
  return undefined;
}

/** At least the bytes as JSON, without those of the values inside. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 4;
  if (Array.isArray(value)) return 2 + value.length;
  let size = 2;
  for (const key in value) size += key.length + 4;
  return size;
}

/** Why a normalized schema is not used, as a sentence for the operator. */
export function findSchemaProblem(schema: JsonObject): string | undefined {
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_BYTES) return `The schema has more than ${MAX_BYTES} bytes.`;
  const definitions = Object.values((schema.$defs as JsonObject | undefined) ?? {}).filter(isObject);
  const counts: Counts = { properties: 0, enumValues: 0, patterns: [] };
  for (const each of [schema, ...definitions]) {
    if (!countParts(each, counts, 0)) return `The schema has more than ${MAX_LEVELS} levels.`;
  }
  return findCountProblem(counts) ?? findPatternProblem(counts.patterns) ?? findExpansionProblem(schema);
}

type Counts = { properties: number; enumValues: number; patterns: string[] };

/** False if the schema has too many levels. */
function countParts(schema: JsonObject, counts: Counts, level: number): boolean {
  if (level > MAX_LEVELS) return false;
  const namesOf = (keyword: string) => Object.keys((schema[keyword] as JsonObject | undefined) ?? {});
  counts.properties += namesOf("properties").length;
  counts.enumValues += Array.isArray(schema.enum) ? schema.enum.length : 0;
  counts.patterns.push(...namesOf("patternProperties"));
  if (typeof schema.pattern === "string") counts.patterns.push(schema.pattern);
  const parts = [...listSameValueParts(schema), ...listInnerParts(schema)];
  return parts.every((part) => countParts(part, counts, level + 1));
}

function findCountProblem({ properties, enumValues, patterns }: Counts): string | undefined {
  if (properties > MAX_PROPERTIES) return `The schema has more than ${MAX_PROPERTIES} properties.`;
  if (enumValues > MAX_ENUM_VALUES) return `The schema has more than ${MAX_ENUM_VALUES} values in enumerations.`;
  if (patterns.length > MAX_PATTERNS) return `The schema has more than ${MAX_PATTERNS} patterns.`;
  return undefined;
}

function findPatternProblem(patterns: string[]): string | undefined {
  const long = patterns.find((pattern) => pattern.length > MAX_PATTERN_CHARACTERS);
  if (long !== undefined) {
    return `A pattern has more than ${MAX_PATTERN_CHARACTERS} characters: ${long.slice(0, MAX_PATTERN_CHARACTERS)}…`;
  }
  const unknown = patterns.find((pattern) => !isPattern(pattern));
  return unknown === undefined ? undefined : `The pattern ${unknown} is no regular expression of RE2.`;
}

/**
 * How often a validator visits a schema for an input of one field per object, by the schema and the level of the
 * input.
 */
type Visits = Map<JsonObject, (number | "counting")[]>;

/**
 * References can double with each step, and lead back to where they started. Parts of the same value count for the same
 * level of the input, parts of its fields for the next, and an input has a bounded number of levels. A reference that
 * leads back on the same level would never end.
 */
function findExpansionProblem(root: JsonObject): string | undefined {
  const visits: Visits = new Map();
  let problem: string | undefined;
  const count = (schema: JsonObject, level: number, hops: number): number => {
    if (problem !== undefined || level > MAX_INPUT_LEVELS) return 0;
    const known = visits.get(schema)?.[level];
    if (known === "counting") problem = "A reference of the schema leads to itself.";
    if (hops > MAX_LEVELS)
      problem = `The schema has more than ${MAX_LEVELS} references and alternatives in each other.`;
    if (typeof known === "number" || problem !== undefined) return Number(known ?? 0);
    const levels = visits.get(schema) ?? [];
    visits.set(schema, levels);
    levels[level] = "counting";
    const target = findDefinition(root, schema);
    let sum = 1;
    for (const part of listSameValueParts(schema)) sum += count(part, level, hops + 1);
    if (target) sum += count(target, level, hops + 1);
    for (const part of listInnerParts(schema)) sum += count(part, level + 1, 0);
    levels[level] = sum;
    if (sum > MAX_EXPANDED)
      problem ??= `The schema has more than ${MAX_EXPANDED} nodes with its references written out.`;
    return sum;
  };
  count(root, 0, 0);
  return problem;
}
