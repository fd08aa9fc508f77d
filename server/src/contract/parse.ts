// Validates the input of an operation and fills in defaults. A Fault lists all validation errors at once.

import { z } from "zod";
import { Fault, type ValidationIssue } from "../faults/faults.ts";
import { FORM_ONLY } from "./files.ts";
import { describeZodIssue } from "./issue-messages.ts";
import { toPointer } from "./json-pointer.ts";
import type { BodyKind, Operation } from "./operation.ts";
import type { JsonObject } from "./schemas/run.ts";

export type ParsedInput = {
  /** The validated input, with Gesso's and the model's defaults. */
  input: JsonObject;
  /** Only the fields that the caller sent: a default of Gesso must not override the model's own default. */
  provided: JsonObject;
};

/** `body` is the kind of request body: some fields and rules apply to one kind only. */
export function parseInput(operation: Operation, raw: JsonObject, body?: BodyKind): ParsedInput {
  const provided = operation.translateDeprecated?.(raw) ?? raw;
  const result = inputSchemaFor(operation, body).safeParse(provided, { error: describeZodIssue });
  // At most one error per field: a value of the wrong type is not reported as too long as well.
  const fieldIssues = result.success ? new Map() : findFieldIssues(result.error.issues, provided);
  // A rule about a field that is invalid itself would repeat the error, and so would a second rule with the same code.
  const ruleIssues = (operation.rules ?? [])
    .filter((rule) => rule.body === undefined || rule.body === body)
    .flatMap((rule) => rule.check(provided))
    .filter((issue) => !fieldIssues.has(issue.path));
  const issues = [...fieldIssues.values(), ...uniqueBy(ruleIssues, ({ path, code }) => `${code} ${path}`)];
  if (issues.length > 0 || !result.success) throwValidationFault(issues);
  return { input: operation.fillDefaults?.(result.data as never) ?? result.data, provided };
}

/** The first error of each field by its path, in time linear in the number of issues. */
function findFieldIssues(issues: z.core.$ZodIssue[], provided: JsonObject): Map<string, ValidationIssue> {
  const byPath = new Map<string, ValidationIssue>();
  for (const issue of issues) {
    for (const each of describeIssue(issue, provided)) if (!byPath.has(each.path)) byPath.set(each.path, each);
  }
  return byPath;
}

const uniqueBy = <T>(items: T[], keyOf: (item: T) => string): T[] =>
  [...new Map(items.toReversed().map((item) => [keyOf(item), item])).values()].toReversed();

function throwValidationFault(issues: ValidationIssue[]): never {
  const isUnsupported = (issue: ValidationIssue) => issue.code === "unsupported_parameter";
  if (issues.every(isUnsupported)) throw new Fault("unsupported_parameter", { errors: issues });
  // Together with other errors, an unsupported parameter is reported as an invalid value.
  const errors = issues.map((issue) => (isUnsupported(issue) ? { ...issue, code: "unknown_value" } : issue));
  throw new Fault("validation_error", { errors });
}

/** Kept, because a schema compiles itself when it is used for the first time, which takes longer than to validate. */
const [jsonSchemas, otherSchemas] = [new WeakMap<Operation, z.ZodObject>(), new WeakMap<Operation, z.ZodObject>()];

function inputSchemaFor(operation: Operation, body: BodyKind | undefined): z.ZodObject {
  const schemas = body === "json" ? jsonSchemas : otherSchemas;
  const schema =
    schemas.get(operation) ?? (body === "json" ? withoutFormOnlyFields(operation) : operation.input).strict();
  schemas.set(operation, schema);
  return schema;
}

const withoutFormOnlyFields = (operation: Operation): z.ZodObject =>
  operation.input.omit(Object.fromEntries(listFormOnlyFields(operation).map((name) => [name, true])) as object);

/** Fields that a JSON body cannot have. */
export const listFormOnlyFields = ({ input }: Operation): string[] =>
  Object.entries(input.shape)
    .filter(([, field]) => innermost(field as z.ZodType).meta()?.["x-body"] === FORM_ONLY["x-body"])
    .map(([name]) => name);

const innermost = (field: z.ZodType): z.ZodType =>
  field instanceof z.ZodOptional || field instanceof z.ZodDefault ? innermost(field.unwrap() as z.ZodType) : field;

function describeIssue(issue: z.core.$ZodIssue, provided: JsonObject): ValidationIssue[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      path: toPointer([...issue.path, key]),
      code: "unknown_field",
      message: "Unknown field.",
    }));
  }
  const absent = issue.path.reduce<unknown>(
    (value, part) => (value as JsonObject | undefined)?.[part as string],
    provided,
  );
  if (absent === undefined && ["invalid_type", "invalid_value", "invalid_union", "custom"].includes(issue.code)) {
    return [{ path: toPointer(issue.path), code: "required", message: "This field is required." }];
  }
  return [{ path: toPointer(issue.path), code: issueCodeFor(issue), message: issue.message }];
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
