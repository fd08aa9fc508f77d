// The jobs or validation errors of an operation for an input, without a server.

import { createFilePart, isFilePart } from "../../src/contract/files.ts";
import { storedAssetReference } from "../../src/contract/image-fields.ts";
import type { BodyKind, Job, Operation } from "../../src/contract/operation.ts";
import { parseInput } from "../../src/contract/parse.ts";
import type { JsonObject } from "../../src/contract/schemas/run.ts";
import type { Fault, ValidationIssue } from "../../src/faults/faults.ts";
import { providers } from "../../src/providers/all.ts";
import { describeModels } from "../../src/providers/resolve-model.ts";

/** Models as an installation knows them that has all providers. */
export const builtInModelFacts = describeModels(providers.map((provider) => ({ provider, env: {} })));

export const RUN_ID = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
export const PARENT_RUN_ID = "01990c3e-2f00-7000-8000-aaaaaaaaaaaa";
export const FILE_ASSET_ID = "01990c3e-2f00-7000-8000-ffffffffffff";
export const URL_A = "https://example.com/a.png";
export const URL_B = "https://example.com/b.png";

/** A file of a form; in a plan it is the asset of that id. */
export const createTestFilePart = (assetId = FILE_ASSET_ID) =>
  createFilePart({ path: "/nowhere", filename: assetId, size_bytes: 1, sha256: "0".repeat(64) });

/** Files are stored before the plan is built, and the input refers to them. */
const withStoredFiles = (value: unknown): unknown => {
  if (isFilePart(value)) return storedAssetReference(value.filename);
  if (Array.isArray(value)) return value.map(withStoredFiles);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([field, each]) => [field, withStoredFiles(each)]));
};

export function parseOperationInput(operation: Operation, raw: JsonObject, body: BodyKind = "json") {
  const parsed = parseInput(operation, raw, body);
  return { input: withStoredFiles(parsed.input) as JsonObject, given: withStoredFiles(parsed.provided) as JsonObject };
}

export function buildJobs(operation: Operation, raw: JsonObject, body: BodyKind = "json"): Job[] {
  const { input, given } = parseOperationInput(operation, raw, body);
  return operation.plan!(input, given, builtInModelFacts);
}

export const resolveParent = (operation: Operation, raw: JsonObject, body: BodyKind = "json") =>
  operation.parent?.(parseOperationInput(operation, raw, body).input);

/** Every warning that the run would carry. */
export function warningsOf(operation: Operation, raw: JsonObject, body: BodyKind = "json"): string[] {
  const { input, given } = parseOperationInput(operation, raw, body);
  return [
    ...(operation.unusedFields?.(input, given, builtInModelFacts) ?? []),
    ...(operation.adjustments?.(input, given, builtInModelFacts) ?? []).map(({ field }) => field),
    ...(operation.warnings?.(input, given) ?? []),
  ];
}

/** Each validation error as `/path code`. */
export function listValidationErrors(operation: Operation, raw: JsonObject, body: BodyKind = "json"): string[] {
  try {
    parseInput(operation, raw, body);
  } catch (thrown) {
    return ((thrown as Fault).details.errors as ValidationIssue[]).map(({ path, code }) => `${path} ${code}`);
  }
  return [];
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The example of an operation, with `run` in the place of every run id. */
export const exampleWithRun = (example: JsonObject, run: string): JsonObject =>
  JSON.parse(JSON.stringify(example), (_, value) => (typeof value === "string" && UUID.test(value) ? run : value));
