// Image fields of a request: files are sent as form parts if the operation accepts a form; otherwise they are uploaded
// first. Only operations with image fields refer to this module, so that bundles without them do not contain it.
import { GET_RUN } from "./connection.ts";
import { createMultipartBody, type FormEntry } from "./multipart.ts";
import type { BodyRequest, Fields, ImageSupport, Operation } from "./operation.ts";
import { type FileSource, type FormPart, isFile, isRunReference, type RunReference, toFormPart } from "./sources.ts";
import type { Schema } from "./validation.ts";

/** Requests to the server that prepare image fields. */
type SourceResolver = {
  upload(file: FileSource): Promise<string>;
  imageUrlOf(run: RunReference): Promise<string>;
};

export const imageSources: ImageSupport = {
  /** `form` if the input contains files and the operation accepts a form, otherwise `json`. */
  chooseBodyKind({ bodies, fields }, input) {
    if (bodies !== "json form") return bodies || "json";
    const needsForm = Object.entries(fields).some(([field, schema]) => {
      const values = [input[field]].flat();
      return schema.form
        ? values[0] !== undefined
        : (schema.sourceKind ?? schema.items?.sourceKind) && values.some(isFile);
    });
    return needsForm ? "form" : "json";
  },

  /** Text that is no JSON is refused as a value of the wrong type. */
  parseForm({ fields }, input) {
    const parse = (field: string, value: unknown): unknown => {
      if (typeof value !== "string" || fields[field]?.type !== "array") return value;
      try {
        return JSON.parse(value);
      } catch {
        return value;
      }
    };
    return Object.fromEntries(Object.entries(input).map(([field, value]) => [field, parse(field, value)]));
  },

  async resolveJson(request) {
    const resolver = createSourceResolver(request);
    const { fields } = request.operation;
    const ready = request.entries.map(
      async ([field, value]) => [field, await resolveSources(value, fields[field], resolver)] as const,
    );
    return Promise.all(ready);
  },

  async buildForm(request) {
    const resolver = createSourceResolver(request);
    const { fields } = request.operation;
    const parts = request.entries.map(([field, value]) => formEntries(field, value, fields[field], resolver));
    const flat = (await Promise.all(parts)).flat();
    const isOnce = flat.some(([, value]) => typeof value !== "string" && value.stream !== undefined);
    return { body: () => createMultipartBody(flat, request.options.onUpload), isOnce };
  },
};

const UPLOAD: Operation = {
  name: "images.upload",
  path: "/api/v1/upload",
  bodies: "form",
  fields: { file: { sourceKind: "file" } },
  images: imageSources,
};

function createSourceResolver({ startRequest, options: { signal, onUpload } }: BodyRequest): SourceResolver {
  const options = { ...(signal && { signal }), ...(onUpload && { onUpload }) };
  const request = async <T>(operation: Operation, input: Fields): Promise<T> =>
    (await (await startRequest(operation, input, options).response()).json()) as T;
  return {
    upload: async (file: FileSource) => {
      const { data } = await request<{ data: { image_url: string } }>(UPLOAD, { file });
      return data.image_url;
    },
    imageUrlOf: async ({ run_id, output_index }) => {
      const run = await request<{ image_url: string; outputs: { url: string }[] }>(GET_RUN, { run_id });
      return String(output_index === undefined ? run.image_url : run.outputs[output_index]?.url);
    },
  };
}

async function formEntries(
  field: string,
  value: unknown,
  schema: Schema | undefined,
  resolver: SourceResolver,
): Promise<FormEntry[]> {
  if (schema?.sourceKind === "file") return [[field, await toFormPart(value as FileSource)]];
  const items = schema?.sourceKind ? [value] : schema?.items?.sourceKind && Array.isArray(value) ? value : undefined;
  if (items) {
    const own = schema?.sourceKind ? schema : schema?.items;
    const parts = await Promise.all(
      items.map((item) => (isFile(item) ? toFormPart(item as FileSource) : resolveSources(item, own, resolver))),
    );
    return parts.map((part, index) => [field, isFile(items[index]) ? (part as FormPart) : toText(part)]);
  }
  return [[field, toText(await resolveSources(value, schema, resolver))]];
}

const toText = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

/** The run ID, or an object if another output or a frame is wanted. */
const toRunValue = ({ run_id, output_index, frame }: RunReference) =>
  output_index === undefined && frame === undefined ? run_id : { run_id, output_index, frame };

/** Replaces every image in the value by its URL, its run ID or its output of a run. */
async function resolveSources(value: unknown, schema: Schema | undefined, resolver: SourceResolver): Promise<unknown> {
  if (schema?.sourceKind && typeof value === "object" && value !== null) {
    if (!isRunReference(value)) return resolver.upload(value as FileSource);
    return schema.sourceKind === "inline" ? toRunValue(value) : resolver.imageUrlOf(value);
  }
  const { items, properties } = schema ?? {};
  if (items && Array.isArray(value)) return Promise.all(value.map((each) => resolveSources(each, items, resolver)));
  if (!properties || typeof value !== "object" || value === null) return value;
  const pairs = Object.entries(value).map(
    async ([field, each]) => [field, await resolveSources(each, properties[field], resolver)] as const,
  );
  return Object.fromEntries(await Promise.all(pairs));
}
