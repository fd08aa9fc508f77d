// From an input to what goes over the wire: the address, the kind of body, and every picture in a form that the server
// takes. Files go into the form where there is one, and are uploaded first where there is none.
import { ValidationError } from "./errors.ts";
import { type Entry, formOf, type UploadProgress } from "./form.ts";
import { type Fields, type Operation, pathFields } from "./operation.ts";
import { misfits } from "./refusal.ts";
import { check, type Schema } from "./schema.ts";
import { type FileSource, isFile, isRunReference, type Part, partOf } from "./sources.ts";

export type Kind = "json" | "form";

export type Prepared = {
  path: string;
  /** Made anew for every attempt. */
  body(): Promise<{ body?: BodyInit; headers: Record<string, string> }>;
  /** A stream was given: once it has been read it cannot be sent again. */
  isOnce: boolean;
};

/** What a preparation may ask of the server. */
export type Errands = {
  upload(file: FileSource): Promise<string>;
  addressOf(runId: string): Promise<string>;
};

type Request = {
  operation: Operation;
  input: Fields;
  kind?: Kind | undefined;
  validate: boolean;
  onUpload?: ((progress: UploadProgress) => void) | undefined;
};

export async function prepare(request: Request, errands: Errands): Promise<Prepared> {
  const { operation, onUpload } = request;
  const kind = request.kind ?? kindFor(operation, request.input);
  const presets = request.kind ? {} : operation.presets;
  const input: Fields = { ...presets, ...dropUndefined(request.input), ...operation.sets };
  if (request.validate) refuseMisfits(operation, input, kind);

  const inPath = pathFields(operation);
  const path = operation.path.replace(/\{(\w+)\}/g, (_, field) => encodeURIComponent(String(input[field])));
  const rest = Object.fromEntries(Object.entries(input).filter(([field]) => !inPath.includes(field)));
  if (!operation.bodies) return { path: path + queryOf(rest), body: async () => ({ headers: {} }), isOnce: false };

  const entries = Object.entries(rest);
  if (kind === "form") {
    const parts = await Promise.all(
      entries.map(([field, value]) => formEntries(field, value, operation.fields[field], errands)),
    );
    const flat = parts.flat();
    const isOnce = flat.some(([, value]) => typeof value !== "string" && value.stream !== undefined);
    return { path, body: () => formOf(flat, onUpload), isOnce };
  }
  const ready = await Promise.all(
    entries.map(async ([field, value]) => [field, await settled(value, operation.fields[field], errands)] as const),
  );
  const text = JSON.stringify(Object.fromEntries(ready));
  return { path, body: async () => ({ body: text, headers: { "content-type": "application/json" } }), isOnce: false };
}

const dropUndefined = (input: Fields): Fields =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));

function refuseMisfits(operation: Operation, input: Fields, kind: Kind): void {
  const { fields, required = [], rules = [], jsonRules = [], formRules = [] } = operation;
  const errors = check({ required, properties: fields }, input, [
    ...rules,
    ...(kind === "form" ? formRules : jsonRules),
  ]);
  if (errors.length === 0) return;
  const details = { errors };
  const says = ["Some fields are not as they must be.", ...misfits(details)].join(" ");
  throw new ValidationError(`${operation.name}: ${says}`, { code: "validation_error", details });
}

/** A form where files are given and a form is taken; JSON otherwise. */
function kindFor({ bodies = "", fields }: Operation, input: Fields): Kind {
  if (!bodies.includes("json")) return "form";
  if (!bodies.includes("form")) return "json";
  const needsForm = Object.entries(fields).some(([field, schema]) => {
    const values = [input[field]].flat();
    return schema.form ? values[0] !== undefined : (schema.is ?? schema.items?.is) && values.some(isFile);
  });
  return needsForm ? "form" : "json";
}

async function formEntries(
  field: string,
  value: unknown,
  schema: Schema | undefined,
  errands: Errands,
): Promise<Entry[]> {
  if (schema?.is === "file") return [[field, await partOf(value as FileSource)]];
  const items = schema?.is ? [value] : schema?.items?.is && Array.isArray(value) ? value : undefined;
  if (items) {
    const own = schema?.is ? schema : schema?.items;
    const parts = await Promise.all(
      items.map((item) => (isFile(item) ? partOf(item as FileSource) : settled(item, own, errands))),
    );
    return parts.map((part) => [field, part as string | Part]);
  }
  const plain = await settled(value, schema, errands);
  return [[field, typeof plain === "string" ? plain : JSON.stringify(plain)]];
}

/** A value with every picture in it as text. */
async function settled(value: unknown, schema: Schema | undefined, errands: Errands): Promise<unknown> {
  if (schema?.is && typeof value === "object" && value !== null) {
    if (!isRunReference(value)) return errands.upload(value as FileSource);
    return schema.is === "inline" ? value.run_id : errands.addressOf(value.run_id);
  }
  const { items, properties } = schema ?? {};
  if (items && Array.isArray(value)) return Promise.all(value.map((each) => settled(each, items, errands)));
  if (!properties || typeof value !== "object" || value === null) return value;
  const pairs = Object.entries(value).map(
    async ([field, each]) => [field, await settled(each, properties[field], errands)] as const,
  );
  return Object.fromEntries(await Promise.all(pairs));
}

function queryOf(input: Fields): string {
  const query = new URLSearchParams();
  for (const [field, value] of Object.entries(input)) {
    if (value !== null) query.append(field, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  return query.size > 0 ? `?${query}` : "";
}
