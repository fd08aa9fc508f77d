// Turns the errors of a compiled schema into the issues that callers see: one for each field, in sentences. Of several
// alternatives, the one that the value comes nearest to is explained.
import type { ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import { escapePointer } from "../contract/json-pointer.ts";
import { nearestName } from "../contract/nearest-names.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import type { ValidationIssue } from "../faults/faults.ts";
import { describeValues, LIMITS, nameTypes } from "./issue-sentences.ts";
import { isObject, listFieldNames } from "./schema-parts.ts";

/** `find` gives the validator of a part of the schema, which may refer to definitions of `root`. */
export type PartValidators = { root: JsonObject; find: (part: JsonObject) => ValidateFunction };

/** `expected`: what an alternative asks for, so that the alternatives of a value can be listed together. */
type Issue = ValidationIssue & { expected?: { types?: string[]; values?: unknown[] } };
type Explain = { parts: PartValidators; files: ReadonlySet<string>; path: string };

/** Issues of more fields are not made. Callers see as many. */
const MAX_ISSUES = 20;
const UNIONS = ["anyOf", "oneOf"];
/** A file is judged as a URL that Gesso made up. */
const ABOUT_TEXT = ["pattern", "minLength", "maxLength"];

/** `files`: the pointers of the fields with files. Issues have pointers relative to the value. */
export function describeErrors(
  errors: readonly ErrorObject[],
  parts: PartValidators,
  files: ReadonlySet<string>,
): ValidationIssue[] {
  const issues = explain(errors, { parts, files, path: "" });
  return issues.map(({ path, code, message }) => ({ path, code, message }));
}

/** At most one issue for each field: the first one. */
function explain(errors: readonly ErrorObject[], context: Explain): Issue[] {
  const byPath = new Map<string, Issue>();
  for (const error of withoutAlternatives(errors)) {
    if (byPath.size >= MAX_ISSUES) break;
    for (const issue of describeError(error, context)) if (!byPath.has(issue.path)) byPath.set(issue.path, issue);
  }
  return [...byPath.values()];
}

/** Errors of the alternatives come before the error of the union, and are about the same value or its fields. */
function withoutAlternatives(errors: readonly ErrorObject[]): ErrorObject[] {
  const kept: ErrorObject[] = [];
  for (const error of errors) {
    if (UNIONS.includes(error.keyword)) {
      const path = error.instancePath;
      const isInside = (each: ErrorObject) => each.instancePath === path || each.instancePath.startsWith(`${path}/`);
      while (kept.length > 0 && isInside(kept.at(-1)!)) kept.pop();
    }
    kept.push(error);
  }
  return kept;
}

function describeError(error: ErrorObject, context: Explain): Issue[] {
  const path = context.path + error.instancePath;
  const field = (name: unknown) => `${path}/${escapePointer(String(name))}`;
  const { keyword, params } = error;
  const isAboutFile = ABOUT_TEXT.includes(keyword) && context.files.has(path);
  // The object that has the field has an error of its own about the name.
  const isAboutName = error.propertyName !== undefined && keyword !== "propertyNames";
  if (isAboutFile || isAboutName || keyword === "if") return [];
  switch (keyword) {
    case "required":
    case "dependentRequired":
      return [{ path: field(params.missingProperty), code: "required", message: "This field is required." }];
    case "additionalProperties":
      return [unknownField(field(params.additionalProperty), params.additionalProperty, error, context)];
    case "unevaluatedProperties":
      return [unknownField(field(params.unevaluatedProperty), params.unevaluatedProperty, error, context)];
    case "propertyNames":
      return [{ path: field(params.propertyName), code: "unknown_field", message: "A field cannot have this name." }];
    case "anyOf":
    case "oneOf":
      return describeUnion(error, { ...context, path });
    case "type":
      return [typeIssue(path, [params.type].flat())];
    case "enum":
      return [valueIssue(path, params.allowedValues)];
    case "const":
      return [valueIssue(path, [params.allowedValue])];
    default: {
      const limit = LIMITS[keyword]?.(params);
      return [{ path, code: "unknown_value", message: "This value is not allowed.", ...limit }];
    }
  }
}

const typeIssue = (path: string, types: string[]): Issue => ({
  path,
  code: "invalid_type",
  message: `Must be ${nameTypes(types)}.`,
  expected: { types },
});

const valueIssue = (path: string, values: unknown[]): Issue => ({
  path,
  code: "unknown_value",
  message: `Must be ${describeValues(values)}.`,
  expected: { values },
});

function unknownField(path: string, name: string, { parentSchema }: ErrorObject, { parts }: Explain): Issue {
  const nearest = nearestName(name, parentSchema ? listFieldNames(parts.root, parentSchema) : []);
  const message = nearest === undefined ? "Unknown field." : `Unknown field. Did you mean ${nearest}?`;
  return { path, code: "unknown_field", message };
}

function describeUnion({ keyword, schema, data, params }: ErrorObject, context: Explain): Issue[] {
  const { path } = context;
  if (keyword === "oneOf" && params.passingSchemas) {
    return [{ path, code: "unknown_value", message: "Fits more than one of the forms that this field can have." }];
  }
  const forms = (Array.isArray(schema) ? schema : []).filter(isObject).map((form) => explainForm(form, data, context));
  // An alternative that fits but for the made-up URL of a file fits the file as well.
  if (forms.some((issues) => issues.length === 0)) return [];
  const isOther = (issues: Issue[]) => issues.some((issue) => issue.path === path && issue.expected?.types);
  const near = forms.filter((issues) => !isOther(issues));
  if (near.length === 0) return [joinExpected(path, forms.flat())];
  const areValues = near.every((issues) => issues.every((issue) => issue.path === path && issue.expected?.values));
  if (areValues) return [joinExpected(path, near.flat())];
  return near.toSorted((a, b) => distanceOf(a) - distanceOf(b))[0]!;
}

function explainForm(form: JsonObject, data: unknown, context: Explain): Issue[] {
  const validate = context.parts.find(form);
  return validate(data) ? [] : explain(validate.errors ?? [], context);
}

/** A field that says which alternative is meant weighs more than any number of others. */
const WRONG_VARIANT = 100;
const distanceOf = (issues: Issue[]): number =>
  issues.reduce((sum, { expected }) => sum + (expected?.values?.length === 1 ? WRONG_VARIANT : 1), 0);

/** Such as "Must be an object or a string." */
function joinExpected(path: string, issues: readonly Issue[]): Issue {
  const here = issues.filter((issue) => issue.path === path);
  const types = [...new Set(here.flatMap(({ expected }) => expected?.types ?? []))];
  const values = [...new Set(here.flatMap(({ expected }) => expected?.values ?? []))];
  if (types.length === 0) return valueIssue(path, values);
  return typeIssue(path, types);
}
