// Generates what the forms of the console are made of, from the contract: every operation that creates a run with its
// fields, the widget of each field by its kind, and the rules between fields. The console writes no field by hand.
import { models } from "../../server/src/contract/models.ts";
import { listUsedFields } from "../../server/src/operations/images/generate.ts";
import { providers } from "../../server/src/providers/all.ts";
import { describeModels } from "../../server/src/providers/resolve-model.ts";
import { type ClientOperation, type Contract, listClientOperations, type Schema } from "./client-operations.ts";
import { GENERATED_NOTICE } from "./markdown.ts";

type Widget = "text" | "number" | "seed" | "choice" | "ratio" | "switch" | "image" | "list" | "json";
/** Kinds that only forms of management have: see management-forms.ts. */
type ManagementWidget = "group" | "time" | "checks" | "scopes";

/** `main` is always visible, `advanced` and `request` are folded. */
type Section = "main" | "advanced" | "request";

export type FormField = {
  name: string;
  label: string;
  widget: Widget | ManagementWidget;
  section: Section;
  description?: string;
  isRequired?: true;
  isDeprecated?: true;
  isSecret?: true;
  /** The field that chooses the model. */
  isModel?: true;
  /** A text of several lines. */
  isLong?: true;
  isInteger?: true;
  default?: unknown;
  options?: unknown[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  /** What an image field takes: URLs and runs, URLs only, or runs only. */
  accepts?: "image" | "url" | "run";
  /** Fields of a group or of one item of a list; a list of single values has one field with the name "". */
  items?: FormField[];
};

const RATIO = /^[1-9]\d?:[1-9]\d?$/;
const RATIO_PATTERN = "^[1-9]\\d?:[1-9]\\d?$";
const MAX_SEED = 4_294_967_295;
const LONG_TEXT = 1000;
const MAX_COUNT = 4;

const isRatioEnum = (values: unknown[]) => values.every((value) => typeof value === "string" && RATIO.test(value));

/** The values that a schema allows: an enumeration, or a choice of constants. */
function optionsOf({ enum: known, anyOf = [] }: Schema): unknown[] | undefined {
  // Names of models: known ones, or any other.
  if (anyOf.length === 2 && anyOf[0]?.enum && anyOf[1]?.type === "string") return anyOf[0].enum;
  const isChoice = anyOf.length > 1 && anyOf.every((each) => each.const !== undefined);
  return known ?? (isChoice ? anyOf.map((each) => each.const) : undefined);
}

function widgetOf(schema: Schema): Widget {
  const { type } = schema;
  const known = optionsOf(schema);
  if (imageKind(schema)) return "image";
  if (known) return isRatioEnum(known) ? "ratio" : "choice";
  if (type === "string") return schema.pattern === RATIO_PATTERN ? "ratio" : "text";
  if (type === "boolean") return "switch";
  if (type === "integer" && schema.maximum === MAX_SEED) return "seed";
  if (type === "integer" || type === "number") return "number";
  if (type === "array") return "list";
  return "json";
}

function imageKind(schema: Schema): FormField["accepts"] {
  if (schema["x-widget"] === "image") return schema["x-inline"] ? "image" : "url";
  const isRun = [schema, ...(schema.anyOf ?? [])].some((each) => each["x-widget"] === "run");
  return isRun ? "run" : undefined;
}

const ACRONYMS: Record<string, string> = { id: "ID", ids: "IDs", url: "URL", lora: "LoRA", cfg: "CFG", fps: "FPS" };

/** `reference_image_url` is "Reference image", `run_ids` is "Runs", `lora_low_name` is "LoRA low name". */
export function labelOf(name: string, isImage: boolean): string {
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split("_")
    .filter(Boolean);
  const last = words.at(-1);
  if (isImage && words.length > 1 && (last === "url" || last === "id")) words.pop();
  if (isImage && words.length > 1 && (last === "urls" || last === "ids")) words.splice(-2, 2, `${words.at(-2)}s`);
  const text = words.map((word) => ACRONYMS[word] ?? word).join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function describeField(
  name: string,
  schema: Schema,
  { section, isRequired }: Pick<FormField, "section"> & { isRequired: boolean },
): FormField {
  const { description, items } = schema;
  const known = optionsOf(schema);
  const widget = widgetOf(schema);
  const holdsImages = widget === "image" || (items !== undefined && widgetOf(items) === "image");
  const accepts = imageKind(schema);
  const isModel = schema["x-widget"] === "model";
  return {
    name,
    label: isModel ? "Model" : labelOf(name, holdsImages),
    widget,
    section,
    ...(description !== undefined && { description }),
    ...(isRequired && { isRequired }),
    ...(schema.deprecated && { isDeprecated: true as const }),
    ...(schema.writeOnly && { isSecret: true as const }),
    ...(isModel && { isModel: true as const }),
    ...(widget === "text" && (schema.maxLength ?? 0) >= LONG_TEXT && !schema.pattern && { isLong: true as const }),
    ...(schema.type === "integer" && { isInteger: true as const }),
    ...(schema.default !== undefined && { default: schema.default }),
    ...(known && { options: withoutRepeats(known) }),
    ...(widget === "number" && pickDefined(schema, ["minimum", "maximum"])),
    ...(widget === "text" && pickDefined(schema, ["maxLength"])),
    ...(widget === "list" && pickDefined(schema, ["minItems", "maxItems"])),
    ...(accepts && { accepts }),
    ...(widget === "list" && { items: describeItems(items ?? {}) }),
  } as FormField;
}

/** An enumeration can have a number and the same number as text. */
const withoutRepeats = (values: unknown[]) =>
  values.filter((value, index) => values.findIndex((other) => String(other) === String(value)) === index);

const pickDefined = (schema: Schema, names: (keyof Schema)[]) =>
  Object.fromEntries(names.filter((name) => schema[name] !== undefined).map((name) => [name, schema[name]]));

function describeItems(item: Schema): FormField[] {
  if (!item.properties) return [describeField("", item, { section: "main", isRequired: true })];
  return Object.entries(item.properties).map(([name, schema]) =>
    describeField(name, schema, { section: "main", isRequired: (item.required ?? []).includes(name) }),
  );
}

type Rule = Schema & { oneOf?: Schema[]; if?: Schema; then?: Rule };

const rulesOf = ({ json }: ClientOperation): Rule[] =>
  ((json?.allOf ?? []) as Rule[]).filter((rule) => Object.keys(rule).length > 0);

/** Fields of which a rule demands one: the source of an image, for example. */
const choiceFields = (rules: Rule[]): string[] =>
  rules.flatMap((rule) => [...(rule.oneOf ?? []), ...(rule.anyOf ?? [])].flatMap(({ required = [] }) => required));

/** A field that takes only runs, beside one that takes files, URLs and runs: the second is enough for most requests. */
const isSecondSource = (schema: Schema, { json }: ClientOperation): boolean => {
  const kindOf = (each: Schema) => imageKind(each.items ?? each);
  return kindOf(schema) === "run" && Object.values(json?.properties ?? {}).some((each) => kindOf(each) === "image");
};

function sectionOf(name: string, schema: Schema, operation: ClientOperation): Section {
  if (operation.commonRunFields.includes(name)) return "request";
  const isRequired = (operation.json?.required ?? []).includes(name);
  if (schema.deprecated || (!isRequired && isSecondSource(schema, operation))) return "advanced";
  const widget = widgetOf(schema);
  const isCount = schema.type === "integer" && schema.default === 1 && schema.maximum === MAX_COUNT;
  const isMain =
    isRequired ||
    choiceFields(rulesOf(operation)).includes(name) ||
    ["ratio", "seed", "image"].includes(widget) ||
    (widget === "list" && describeItems(schema.items ?? {}).some((each) => each.widget === "image")) ||
    (name === "prompt" && widget === "text") ||
    schema["x-widget"] === "model" ||
    isCount;
  return isMain ? "main" : "advanced";
}

function describeOperation(operation: ClientOperation, sharedFields: Map<string, FormField>) {
  const { properties = {}, required = [] } = operation.json ?? {};
  const fields = Object.entries(properties).map(([name, schema]) => {
    const section = sectionOf(name, schema, operation);
    const field = describeField(name, schema, { section, isRequired: required.includes(name) });
    if (section !== "request") return field;
    const known = sharedFields.get(name);
    if (!known) sharedFields.set(name, field);
    return known && JSON.stringify(known) !== JSON.stringify(field) ? field : name;
  });
  const rules = rulesOf(operation);
  return {
    title: operation.summary.split(/[:.](?:\s|$)/)[0],
    path: operation.path,
    runType: operation.operation["x-run-type"],
    ...(operation.example && { example: operation.example }),
    fields,
    ...(rules.length > 0 && { rules }),
  };
}

/** What a model uses, by the built-in offers of all providers. */
const builtIn = describeModels(providers.map((provider) => ({ provider, env: {} })));

export function generateConsoleOperations(contract: object): string {
  const sharedFields = new Map<string, FormField>();
  const running = listClientOperations(contract as Contract).filter(({ operation }) => operation["x-run-type"]);
  const operations = Object.fromEntries(
    running.map((operation) => [operation.name, describeOperation(operation, sharedFields)]),
  );
  const rows = models.map(({ id, description }) => [id, { description, usedFields: listUsedFields(id, builtIn) }]);
  const file = {
    notice: GENERATED_NOTICE,
    models: Object.fromEntries(rows),
    sharedFields: Object.fromEntries(sharedFields),
    operations,
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}
