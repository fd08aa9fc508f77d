// Declares a tool of the MCP server: pure data, and the translation of its arguments to an input of an operation. Every
// field is a field of an operation under the tool's name for it, so no schema is written a second time.
import { z } from "zod";
import type { Operation, Task } from "../../contract/operation.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import { Fault, type ValidationIssue } from "../../faults/faults.ts";

/** Hints for clients: they decide whether a person is asked before a call. */
export type ToolAnnotations = {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
};

/** Whether a provider of this installation offers the model for the task. */
export type IsOffered = (task: Task, model: string) => boolean;

/** `names`: fields of the operation whose name in the tool is another one. */
export type ToolTranslation = { operation: Operation; input: JsonObject; names?: Record<string, string> };

/** What a query tool says about a response: a text for the model, and the same as data. */
export type ToolAnswer = { text: string; content: JsonObject };

export type Tool = {
  name: string;
  title: string;
  description: string;
  annotations: ToolAnnotations;
  inputSchema: JsonObject;
  outputSchema: JsonObject;
  /** Which operation a call is, and its input. Absent for tools that `describe` answers. */
  translate?(args: JsonObject, isOffered: IsOffered): ToolTranslation;
  /** What to say about the response of an operation without a run. Absent for tools whose result is a run. */
  answer?(response: JsonObject, args: JsonObject): ToolAnswer;
  /** Answers from the contract alone, without an operation. */
  describe?(args: JsonObject, mayCall: (operation: Operation) => boolean): ToolAnswer;
};

/** Creates something at a provider, and never changes what exists. */
export const CREATES = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true };
export const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** Fields of a tool: the field of the operation, or its schema. */
export type ToolFields = Record<string, z.ZodType>;

/** A field of an operation, with its schema and description. */
export function fieldOf(operation: Operation, name: string): z.ZodType {
  const field = operation.input.shape[name] as z.ZodType | undefined;
  if (!field) throw new Error(`${operation.name} has no field ${name}.`);
  return field;
}

export const fieldsOf = (operation: Operation, ...names: string[]): ToolFields =>
  Object.fromEntries(names.map((name) => [name, fieldOf(operation, name)]));

/** The largest image inside a call. Larger images come by URL, or are uploaded first. */
const MAX_INLINE_IMAGE_BYTES = 5_000_000;
const IMAGE_NOTE = "Run ID, https URL, or data URI up to 5 MB";

/**
 * The JSON Schema of a tool's arguments. Images are texts here, because models write a run ID more reliably than an
 * object.
 */
export function argumentsSchema(fields: ToolFields, required: string[] = []): JsonObject {
  const schema = z.toJSONSchema(z.object(fields), { io: "input", unrepresentable: "any" }) as JsonObject;
  const properties = Object.entries(schema.properties as Record<string, JsonObject>);
  return {
    type: "object",
    properties: Object.fromEntries(properties.map(([name, property]) => [name, simplify(property)])),
    required: [...new Set([...required, ...((schema.required ?? []) as string[])])],
    additionalProperties: false,
  };
}

/**
 * Without the keys that only the generators of Gesso read, without limits that validation reports anyway, and with the
 * first sentence of the description: clients read the whole list of tools into the context of the model.
 */
function simplify(property: JsonObject): JsonObject {
  const { type, format, enum: values, items, minItems, maxItems, description } = property;
  const isImage = property["x-inline"] === true && type === undefined;
  const text = typeof description === "string" ? firstSentence(description) : undefined;
  return {
    ...{ type: isImage ? "string" : type, format, enum: values, minItems, maxItems },
    ...(text !== undefined && { description: isImage ? `${text}. ${IMAGE_NOTE}` : text }),
    ...(items !== undefined && { items: simplify(items as JsonObject) }),
  };
}

const firstSentence = (text: string) => /^.*?(?=\. (?!Default)|$)/s.exec(text)![0];

/** The JSON Schema of a tool's `structuredContent`: its fields and their types. */
export function contentSchema(schema: z.ZodType): JsonObject {
  const { $defs = {}, ...root } = z.toJSONSchema(schema, { io: "output", unrepresentable: "any" }) as JsonObject;
  return { ...outline(root, $defs as Record<string, JsonObject>, true), required: root.required ?? [] };
}

/** Objects inside objects are only named. Those of a list are outlined, because the lists are the results. */
function outline(node: JsonObject, definitions: Record<string, JsonObject>, isShown: boolean): JsonObject {
  if (typeof node.$ref === "string") return outline(definitions[node.$ref.split("/").at(-1)!]!, definitions, isShown);
  const variants = (node.anyOf ?? []) as JsonObject[];
  const [variant] = variants.filter(({ type }) => type !== "null");
  if (variant) {
    const { type, ...rest } = outline(variant, definitions, isShown);
    return { type: variants.length > 1 ? [type, "null"] : type, ...rest };
  }
  const { type, properties, items } = node;
  const fields = Object.entries((properties ?? {}) as Record<string, JsonObject>);
  const outlined = fields.map(([name, field]) => [name, outline(field, definitions, field.type === "array")]);
  return {
    type,
    ...(isShown && properties !== undefined && { properties: Object.fromEntries(outlined) }),
    ...(isShown && items !== undefined && { items: outline(items as JsonObject, definitions, isShown) }),
  };
}

/** A run ID becomes a reference to the output that `output_index` and `frame` select. */
export const imageOf = (image: unknown, { output_index, frame }: JsonObject = {}): unknown =>
  typeof image === "string" && isRunId(image) && (output_index !== undefined || frame !== undefined)
    ? { run_id: image, ...(output_index !== undefined && { output_index }), ...(frame !== undefined && { frame }) }
    : image;

const isRunId = (text: string): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);

/** Without the fields that the caller did not send. */
export const definedFields = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** Throws if a call has a field that the tool does not have, lacks a required one, or has too large an image. */
export function checkArguments({ inputSchema }: Tool, args: JsonObject): void {
  const known = inputSchema.properties as JsonObject;
  const unknown = Object.keys(args).filter((name) => !(name in known));
  const missing = (inputSchema.required as string[]).filter((name) => args[name] === undefined);
  const errors: ValidationIssue[] = [
    ...unknown.map((name) => ({ path: `/${name}`, code: "unknown_field", message: "Unknown field." })),
    ...missing.map((name) => ({ path: `/${name}`, code: "required", message: "This field is required." })),
    ...findLargeImages(args).map((path) => ({
      ...{ path, code: "too_long" },
      message: "The image has more than 5 MB. Send an https URL, or upload the image and send its run ID.",
    })),
  ];
  if (errors.length > 0) throw new Fault("validation_error", { errors });
}

function findLargeImages(value: unknown, path = ""): string[] {
  if (typeof value === "string")
    return value.length > (MAX_INLINE_IMAGE_BYTES * 4) / 3 + 64 && !/^https?:/i.test(value) ? [path] : [];
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, each]) => findLargeImages(each, `${path}/${key}`));
}
