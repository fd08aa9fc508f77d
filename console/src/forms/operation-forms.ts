// The forms of all operations that create runs, as the generator wrote them from the contract.
import file from "../generated/operations.json";
import { text } from "../text/text.ts";

type RunWidget = "text" | "number" | "seed" | "choice" | "ratio" | "switch" | "image" | "list" | "json";
/** Forms of management have four more kinds, forms of imported models two and groups. */
export type Widget = RunWidget | "group" | "time" | "checks" | "scopes" | "union" | "file";
export type Section = "main" | "advanced" | "request";

export type FormField = {
  name: string;
  label: string;
  widget: Widget;
  section: Section;
  description?: string;
  isRequired?: true;
  isDeprecated?: true;
  isSecret?: true;
  isModel?: true;
  isLong?: true;
  isInteger?: true;
  default?: unknown;
  options?: readonly unknown[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  accepts?: "image" | "url" | "run";
  /** What kind of file a field takes that takes no image. */
  fileKind?: string;
  /** Any JSON, not only an object. */
  isAnyJson?: true;
  /** Says that it is required, in forms where most fields are not. */
  marksRequired?: true;
  /** A value for the placeholder of a field without a default. */
  example?: string;
  /** Fields of a group or of one item of a list; a list of single values has one field with the name "". */
  items?: readonly FormField[];
};

type FieldRules = {
  const?: unknown;
  enum?: readonly unknown[];
  minItems?: number;
  maxItems?: number;
};

/** A rule between fields, as JSON Schema. */
export type FormRule = {
  if?: { properties?: Record<string, { const?: unknown }> };
  then?: FormRule;
  required?: readonly string[];
  properties?: Record<string, FieldRules>;
  dependentRequired?: Record<string, readonly string[]>;
  oneOf?: readonly { required?: readonly string[] }[];
  anyOf?: readonly { required?: readonly string[] }[];
};

export type ModelRow = { description: string; usedFields: readonly string[] };

export type OperationForm = {
  name: string;
  /** The short name, for menus and headings. */
  label: string;
  /** What the operation does, in the words of the contract. */
  title: string;
  path: string;
  runType: string;
  fields: readonly FormField[];
  rules: readonly FormRule[];
};

type OperationsFile = {
  models: Record<string, ModelRow>;
  sharedFields: Record<string, FormField>;
  operations: Record<
    string,
    { title: string; path: string; runType: string; fields: (FormField | string)[]; rules?: FormRule[] }
  >;
};

const { models, sharedFields, operations } = file as unknown as OperationsFile;

export const MODELS: Readonly<Record<string, ModelRow>> = models;

const MENU_ORDER = Object.keys(text.operations);
const placeOf = (name: string) => (MENU_ORDER.includes(name) ? MENU_ORDER.indexOf(name) : MENU_ORDER.length);

/** In the order of the menu; operations that the menu does not know yet come last, by their titles. */
export const OPERATION_FORMS: readonly OperationForm[] = Object.entries(operations)
  .map(([name, { title, path, runType, fields, rules = [] }]) => ({
    name,
    label: text.operations[name] ?? title,
    title,
    path,
    runType,
    rules,
    fields: fields.flatMap((field) => (typeof field === "string" ? (sharedFields[field] ?? []) : field)),
  }))
  .sort((a, b) => placeOf(a.name) - placeOf(b.name) || (a.title < b.title ? -1 : 1));

/** The operation whose input has the fields of an imported model. */
export const ANY_MODEL = "runs.create";
export const isAnyModel = ({ name }: Pick<OperationForm, "name">): boolean => name === ANY_MODEL;

export const findOperationForm = (name: string | undefined): OperationForm =>
  OPERATION_FORMS.find((form) => form.name === name) ?? OPERATION_FORMS[0]!;
