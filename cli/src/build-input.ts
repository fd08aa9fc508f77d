// Builds the input of an operation from the values on the command line: each image goes to the field that takes its
// kind, and a local file is uploaded if the operation takes only runs.
import { fromPath } from "@gesso/client";
import { commandError } from "./exit-codes.ts";
import { type ImageArgument, parseImageArgument, parseRunArgument } from "./image-argument.ts";
import type { CliOperation, OperationField } from "./operations.ts";

export type OperationInput = Record<string, unknown>;
export type FieldValue = { field: OperationField; value: unknown };

/** Uploads a file. A repeated command with the same idempotency key gets the same upload. */
export type UploadFile = (path: string) => Promise<{ run_id: string; image_url: string }>;

type InputContext = { operation: CliOperation; upload: UploadFile };

export async function buildInput(context: InputContext, values: FieldValue[]): Promise<OperationInput> {
  const input: OperationInput = {};
  for (const value of values) await setValue(input, context, value);
  return input;
}

async function setValue(input: OperationInput, context: InputContext, { field, value }: FieldValue): Promise<void> {
  const { operation, upload } = context;
  const { name, type, isList, imageProperty } = field;
  const parse = async (text: string) => toSource(await parseImageArgument(text), context);
  if (imageProperty) {
    input[name] = await Promise.all((value as string[]).map((each) => parseTaggedImage(field, each, upload)));
  } else if (type === "image" && isList) {
    input[name] = await Promise.all((value as string[]).map(parse));
  } else if (type === "image" || type === "file") {
    const image = operation.fields.find((each) => each.name === field.imageField) ?? field;
    await setImage(input, context, { field: image, image: await parseImageArgument(value as string) });
  } else if (type === "run" && !isList && operation.kind === "run" && !operation.pathFields?.includes(name)) {
    input[name] = await toRunId(await parseImageArgument(value as string), upload);
  } else if (type === "run") {
    const ids = await Promise.all([value].flat().map((each) => parseRunArgument(each as string)));
    input[name] = isList ? ids : ids[0];
  } else input[name] = value;
}

type ImageOfField = { field: OperationField; image: ImageArgument };

async function setImage(input: OperationInput, context: InputContext, { field, image }: ImageOfField): Promise<void> {
  const { fileField, runField, type } = field;
  if (image.kind === "file" && fileField) input[fileField] = fromPath(image.path);
  else if (type === "file" && image.kind !== "file") throw commandError("usage", `${field.name} takes a file.`);
  else if (image.kind === "run" && runField) {
    input[runField] = image.runId;
    if (image.outputIndex !== undefined) input.output_index = image.outputIndex;
  } else input[field.name] = await toSource(image, context);
}

async function toSource(image: ImageArgument, { operation, upload }: InputContext): Promise<unknown> {
  if (image.kind === "url") return image.url;
  if (image.kind === "file") return operation.takesFiles ? fromPath(image.path) : (await upload(image.path)).image_url;
  return { run_id: image.runId, ...(image.outputIndex !== undefined && { output_index: image.outputIndex }) };
}

async function toRunId(image: ImageArgument, upload: UploadFile): Promise<string> {
  if (image.kind === "url") throw commandError("usage", "This operation takes a run ID or a file, not a URL.");
  return image.kind === "file" ? (await upload(image.path)).run_id : image.runId;
}

/** `hero=portrait.png`: the name in the prompt, and the image. */
async function parseTaggedImage({ imageProperty, nameProperty }: OperationField, text: string, upload: UploadFile) {
  const [, name, image] = /^@?(\w+)=(.+)$/s.exec(text) ?? [];
  if (!name || !image) throw commandError("usage", `Write an image with its tag: hero=portrait.png, not ${text}.`);
  const parsed = await parseImageArgument(image);
  const source = parsed.kind === "file" ? (await upload(parsed.path)).image_url : parsed;
  const value = typeof source === "string" ? source : source.kind === "url" ? source.url : source.runId;
  return { [imageProperty!]: value, [nameProperty!]: name };
}
