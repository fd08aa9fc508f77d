// Lists every field of every operation that takes an id, read from the operations' schemas. An id field of unknown kind
// is an error: a new operation must declare what its ids refer to.
import { z } from "zod";
import { createFilePart } from "../../src/contract/files.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { parseInput } from "../../src/contract/parse.ts";
import type { JsonObject } from "../../src/contract/schemas/run.ts";
import { operations } from "../../src/operations/all.ts";

export type IdKind =
  | ("run" | "key" | "prompt" | "model" | "member" | "tenant" | "cursor")
  | ("webhook" | "delivery" | "listener" | "budget");
export type IdField = { operation: Operation; path: string[]; kind: IdKind; isFilter: boolean };

/** IDs of another tenant, or IDs that do not exist. */
const EXEMPT_FIELDS: Record<string, string> = {
  "members.add user_id": "whom one takes in; people are named anew in every tenant",
  "models.grants.create tenant_id": "whom it is given to",
  "models.grants.create user_id": "whom it is given to",
  "models.grants.delete tenant_id": "whom it is taken from",
  "models.grants.delete user_id": "whom it is taken from",
  "system.importModel tenant_ids": "whom the operator lets use it",
  "tenants.create owner_id": "a new person in a new tenant",
  "models.create deployment_id": "names of LoRAs are one list for all",
  "models.update deployment_id": "names of LoRAs are one list for all",
  "runs.cancelAll key_id": "a filter of open runs of the tenant; library/cancel-runs.test.ts has those of another",
  "runs.cancelAll user_id": "a filter of open runs of the tenant; library/cancel-runs.test.ts has those of another",
};

/** Fields that the operation needs beside the ID before it looks the ID up, where the example does not have them. */
const REQUIRED_WITH_ID: Record<string, JsonObject> = {
  "admin.pause tenant_id": {},
  "admin.pause worker_id": {},
  "admin.resume tenant_id": {},
  "admin.resume worker_id": {},
  "images.generate run_ids": { model_type: "flux-kontext-multi", prompt: "both" },
  "images.generate image_urls": { model_type: "gemini-2.5", prompt: "both" },
  "images.generate reference_image_url": { model_type: "gemini-2.5", prompt: "x" },
  "images.generate mask_url": {
    ...{ model_type: "gemini-2.5", prompt: "x", reference_image_url: "https://example.com/a.png" },
  },
  "images.character mask": { prompt: "x", image: "https://example.com/a.png" },
  "images.generate model_id": { model_type: "wan-image-2.1", prompt: "x", width: 64, height: 64 },
};

type Schema = JsonObject & {
  type?: string;
  format?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
};

/** The schema of the input, with the named schemas inside it in the place of their references. */
function schemaOf({ input }: Operation): Schema {
  const { $defs = {}, ...schema } = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  return JSON.parse(JSON.stringify(schema), (_, value) =>
    typeof value?.$ref === "string" ? $defs[value.$ref.replace("#/$defs/", "")] : value,
  );
}

function kindOf(operation: Operation, path: string[], schema: Schema): IdKind | undefined {
  const name = path.filter((part) => part !== "0").at(-1) ?? "";
  // Operations of operators refuse every other credential before they look at an ID, as those on tenants do.
  if (operation.name.startsWith("admin.")) return "tenant";
  if (name === "cursor") return "cursor";
  if (schema["x-inline"] === true || /(^|_)(run|parent)_ids?$/.test(name)) return "run";
  if (name === "id" && operation.name.startsWith("prompts.")) return "prompt";
  const known: Record<string, IdKind> = {
    ...{ key_id: "key", keep_keys: "key", model_id: "model", tenant_id: "tenant", user_id: "member" },
    ...{ webhook_id: "webhook", delivery_id: "delivery", listener_id: "listener" },
    budget_id: "budget",
  };
  return known[name];
}

const isId = (path: string[], { type, format, ...schema }: Schema) =>
  type === "string" &&
  (format === "uuid" ||
    schema["x-inline"] === true ||
    path.at(-1) === "cursor" ||
    /(^|_)ids?$/.test(path.at(-1) ?? ""));

type SchemaField = { path: string[]; schema: Schema };

function findSchemaFields(schema: Schema, isOne: typeof isId, path: string[] = []): SchemaField[] {
  const below = [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, each]) =>
      findSchemaFields(each, isOne, [...path, name]),
    ),
    ...(schema.items ? findSchemaFields(schema.items, isOne, [...path, "0"]) : []),
    ...(schema.anyOf ?? []).flatMap((each) => findSchemaFields(each, isOne, path)),
  ];
  return isOne(path, schema) ? [{ path, schema }, ...below] : below;
}

export const baseOperations: Operation[] = operations.filter(({ variantOf }) => variantOf === undefined);

export function listIdFields(operation: Operation): IdField[] {
  return findSchemaFields(schemaOf(operation), isId).flatMap(({ path, schema }) => {
    const place = `${operation.name} ${path.filter((part) => part !== "0").join(".")}`;
    if (EXEMPT_FIELDS[place]) return [];
    const kind = kindOf(operation, path, schema);
    if (!kind) throw new Error(`${place}: whose id is it? Say so in kindOf, or in EXEMPT why it does not matter.`);
    const isFilter = operation.http.method === "GET" && !operation.http.path.includes(`:${path[0]}`);
    // A stream without end cannot report that a run does not exist, so its filter is checked for ownership first.
    return [{ operation, path, kind, isFilter: isFilter && kind !== "cursor" && !operation.events }];
  });
}

/** URLs of images that are only displayed; the server never fetches them. */
const DISPLAY_ONLY_FIELDS = ["preview_image_url"];

/** Every field that accepts an image URL. */
export const listImageUrlFields = (): IdField[] =>
  baseOperations.flatMap((operation) =>
    findSchemaFields(schemaOf(operation), (path, { type, ...schema }) => {
      const name = path.findLast((part) => part !== "0") ?? "";
      return type === "string" && schema["x-widget"] === "image" && !DISPLAY_ONLY_FIELDS.includes(name);
    }).map(({ path }) => ({ operation, path, kind: "run" as const, isFilter: false })),
  );

/** A minimal valid input of the operation with this ID in this field. */
export function buildInputWithId({ operation, path }: IdField, id: string): JsonObject {
  const schema = schemaOf(operation);
  const place = `${operation.name} ${path[0]}`;
  const bare = Object.fromEntries(
    Object.entries(operation.example).filter(([name]) => !isImage(schema.properties?.[name])),
  );
  const candidates = REQUIRED_WITH_ID[place]
    ? [REQUIRED_WITH_ID[place]]
    : [bare, operation.example, withImageAndMask(operation)];
  const fits = candidates
    .map((base) => put(base, path, { id, schema }))
    .find((input) => {
      try {
        parseInput(operation, { ...filesOf(schema), ...input });
        return true;
      } catch {
        return false;
      }
    });
  if (!fits) throw new Error(`${place}: no input was found that reaches it`);
  return fits;
}

/** Two images where an operation wants an image and a mask. */
const withImageAndMask = ({ example }: Operation): JsonObject => ({
  ...example,
  image_url: "https://example.com/a.png",
});

const isImage = (schema: Schema | undefined): boolean =>
  schema !== undefined && (schema["x-widget"] === "image" || (schema.items !== undefined && isImage(schema.items)));

const filesOf = ({ properties = {} }: Schema): JsonObject =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([name, { format }]) => format === "binary" && name === "file")
      .map(([name]) => [
        name,
        createFilePart({ path: "/x", filename: "a.png", size_bytes: 1, sha256: "0".repeat(64) }),
      ]),
  );

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null;

function put(base: unknown, [first, ...rest]: string[], at: { id: string; schema: Schema }): JsonObject {
  const schema = at.schema.properties?.[first!] ?? at.schema.items ?? {};
  const inner = { id: at.id, schema };
  if (first === undefined) return at.id as never;
  const fields = isObject(base) ? base : {};
  const known = fields[first];
  if (rest[0] === "0") {
    // Lists of images want two; all of it is the same.
    const [given] = (known as unknown[] | undefined) ?? [];
    const isTagged = schema.items?.properties?.tag !== undefined;
    const entry =
      rest.length === 1
        ? at.id
        : put(given ?? (isTagged ? { tag: "hero" } : {}), rest.slice(1), { id: at.id, schema: schema.items ?? {} });
    return { ...fields, [first]: Array.from({ length: isTagged ? 1 : 2 }, () => entry) };
  }
  return { ...fields, [first]: rest.length === 0 ? at.id : put(known, rest, inner) };
}
