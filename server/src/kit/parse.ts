// Reads what a caller sent against an operation: every misfit at once, defaults filled, words of the catalogue.
import { z } from "zod";
import { Fault, type ValidationIssue } from "../faults.ts";
import { FORM_ONLY } from "./files.ts";
import type { BodyKind, Operation } from "./operation.ts";
import type { JsonObject } from "./schemas/run.ts";

export type ParsedInput = {
  /** The input with defaults filled and the model's settings applied. */
  input: JsonObject;
  /** Only what the caller said, so that a default of ours never overrides a model's own. */
  provided: JsonObject;
};

/** `body` is what carried the request: some fields and rules belong to one kind only. */
export function parseInput(operation: Operation, raw: JsonObject, body?: BodyKind): ParsedInput {
  const given = operation.translateDeprecated?.(raw) ?? raw;
  const result = inputSchemaFor(operation, body).safeParse(given);
  const found = result.success ? [] : result.error.issues.flatMap((issue) => describeIssue(issue, given));
  // One complaint a field: what is of the wrong type is not also too long.
  const fieldIssues = found.filter((issue, index) => found.findIndex(({ path }) => path === issue.path) === index);
  // A rule about a field that is itself misformed would only repeat the complaint, and so would a second rule.
  const told = new Set(fieldIssues.map((issue) => issue.path));
  const ruleIssues = (operation.rules ?? [])
    .filter((rule) => rule.body === undefined || rule.body === body)
    .flatMap((rule) => rule.check(given))
    .filter((each) => !told.has(each.path))
    .filter(
      (each, index, all) => all.findIndex(({ path, code }) => path === each.path && code === each.code) === index,
    );
  const issues = [...fieldIssues, ...ruleIssues];
  if (issues.length > 0 || !result.success) throwValidationFault(issues);
  return { input: operation.fillDefaults?.(result.data as never) ?? result.data, provided: given };
}

function throwValidationFault(issues: ValidationIssue[]): never {
  const isUnsupported = (issue: ValidationIssue) => issue.code === "unsupported_parameter";
  if (issues.every(isUnsupported)) throw new Fault("unsupported_parameter", { errors: issues });
  // Among misfits of other kinds it is one more value that is not taken.
  const errors = issues.map((issue) => (isUnsupported(issue) ? { ...issue, code: "unknown_value" } : issue));
  throw new Fault("validation_error", { errors });
}

const inJson = new WeakMap<Operation, z.ZodObject>();

function inputSchemaFor(operation: Operation, body: BodyKind | undefined): z.ZodObject {
  if (body !== "json") return operation.input.strict();
  const known = inJson.get(operation) ?? operation.input.omit(formOnlyFields(operation) as object).strict();
  inJson.set(operation, known);
  return known;
}

const formOnlyFields = ({ input }: Operation): Record<string, true> =>
  Object.fromEntries(
    Object.entries(input.shape)
      .filter(([, field]) => innermost(field as z.ZodType).meta()?.["x-body"] === FORM_ONLY["x-body"])
      .map(([name]) => [name, true as const]),
  );

const innermost = (field: z.ZodType): z.ZodType =>
  field instanceof z.ZodOptional || field instanceof z.ZodDefault ? innermost(field.unwrap() as z.ZodType) : field;

const pointer = (path: PropertyKey[]) =>
  path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

function describeIssue(issue: z.core.$ZodIssue, given: JsonObject): ValidationIssue[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      path: pointer([...issue.path, key]),
      code: "unknown_field",
      message: "Unknown field.",
    }));
  }
  const absent = issue.path.reduce<unknown>(
    (value, part) => (value as JsonObject | undefined)?.[part as string],
    given,
  );
  if (absent === undefined && ["invalid_type", "invalid_value", "invalid_union", "custom"].includes(issue.code)) {
    return [{ path: pointer(issue.path), code: "required", message: "This field is required." }];
  }
  return [{ path: pointer(issue.path), code: issueCodeFor(issue), message: issue.message }];
}

function issueCodeFor(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
    case "invalid_union":
    case "invalid_key":
    case "invalid_element":
      return "invalid_type";
    case "invalid_value":
      return "unknown_value";
    case "invalid_format":
      return issue.format === "uuid" ? "invalid_uuid" : "unknown_value";
    case "too_small":
      return issue.origin === "array" ? "too_few_items" : "out_of_range";
    case "too_big":
      return issue.origin === "array" ? "too_many_items" : issue.origin === "string" ? "too_long" : "out_of_range";
    case "custom":
      return String(issue.params?.code ?? "invalid_type");
    default:
      return "invalid_type";
  }
}
