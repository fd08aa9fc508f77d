// Finds the files in a normalized schema: which fields of an input take one, and which fields of a result are one.
// Pure, so that the same schema always has the same fields.
//
// A field is a file if one of these holds:
// - it is the `url` of an object that also has a property of a file, such as `content_type`;
// - the provider marks it, by `ui.field` or by `format`;
// - it is a text whose name says that it is a URL, or the name of a medium whose description speaks of a URL.

import { escapePointer } from "../contract/json-pointer.ts";
import type { MediaField, MediaKind } from "../contract/pinned-model.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import { findKind, namesAddress, namesMedium, namesUrl, speaksOfUrl } from "./media-words.ts";
import { findDefinition, isObject } from "./schema-parts.ts";

/** Where a schema stands in the value that it judges. */
type Place = {
  pointer: string;
  name: string;
  /** Names around the field, the nearest first, and then the name of its type. */
  context: string[];
  /** The name of its type, if it has one of its own. */
  type: string;
  description: string;
  /** Whether another form of the value is a list or an object: `string | { uri }[]`. */
  isBesideFile: boolean;
  /** The provider's mark: the kind of field that its own forms show. */
  shown: string | undefined;
  trail: JsonObject[];
};

const MAX_LEVELS = 12;
const MAX_FIELDS = 1_000;

/** `isResult`: the schema of a result, whose files must be of the kinds that are found. */
export function findMediaFields(root: JsonObject, { isResult }: { isResult: boolean }): MediaField[] {
  const found = new Map<string, MediaKind>();
  const mixed = new Set<string>();
  const add = (pointer: string, texts: string[]) => {
    const known = found.get(pointer);
    if (known === undefined && found.size >= MAX_FIELDS) return;
    const kind = findKind(texts, isResult);
    // The same field in another form of the object can say more about it, or be of another kind.
    if (isResult && known !== undefined && ![known, "file"].includes(kind) && known !== "file") mixed.add(pointer);
    if (known === undefined || known === "file") found.set(pointer, mixed.has(pointer) ? "file" : kind);
    else if (mixed.has(pointer)) found.set(pointer, "file");
  };
  const visit = (schema: JsonObject, place: Place) => {
    if (place.trail.length > MAX_LEVELS || place.trail.includes(schema)) return;
    const here = { ...place, ...describe(schema, place), trail: [...place.trail, schema] };
    const target = findDefinition(root, schema);
    if (target) visit(target, { ...here, type: nameOfType(schema), context: [...here.context, nameOfType(schema)] });
    const forms = ["anyOf", "oneOf", "allOf"].flatMap((key) => (schema[key] as unknown[] | undefined) ?? []);
    const isBesideFile = here.isBesideFile || forms.some(isStructure);
    for (const form of forms.filter(isObject)) visit(form, { ...here, isBesideFile });
    const isFile = isFileObject(root, schema);
    // `mask: VideoFile` is a video. A type such as `File` says nothing, and the name of the field decides.
    if (isFile) add(`${here.pointer}/url`, [here.type, here.name, ...here.context.toReversed(), here.description]);
    if (isFileText(schema, here)) add(here.pointer, [here.name, ...here.context, here.description]);
    visitInner(schema, here, isFile, visit);
  };
  visit(root, {
    pointer: "",
    name: "",
    context: [],
    type: "",
    description: "",
    isBesideFile: false,
    shown: undefined,
    trail: [],
  });
  return [...found].map(([pointer, kind]) => ({ pointer, kind }));
}

/** A list or an alternative inherits what is said about the whole field. */
function describe({ description, ui, _fal_ui_field }: JsonObject, place: Place) {
  const shown = (isObject(ui) ? ui.field : undefined) ?? _fal_ui_field;
  return {
    description: typeof description === "string" ? description : place.description,
    shown: typeof shown === "string" ? shown : place.shown,
  };
}

const nameOfType = ({ $ref }: JsonObject): string =>
  String($ref)
    .split("/")
    .at(-1)!
    .replace(/\.part$/, "");

const isStructure = (form: unknown): boolean =>
  isObject(form) && (isObject(form.items) || isObject(form.properties) || typeof form.$ref === "string");

function visitInner(
  schema: JsonObject,
  here: Place,
  isFile: boolean,
  visit: (schema: JsonObject, place: Place) => void,
): void {
  const isBesideFile = false;
  const elements = [
    schema.items,
    schema.additionalProperties,
    ...((schema.prefixItems as unknown[] | undefined) ?? []),
  ];
  for (const element of elements.filter(isObject))
    visit(element, { ...here, pointer: `${here.pointer}/*`, isBesideFile });
  for (const [name, field] of Object.entries((schema.properties as JsonObject | undefined) ?? {})) {
    // `file_data` is another form of the file that `url` leads to.
    if (!isObject(field) || (isFile && ["url", "file_data"].includes(name))) continue;
    const context = [here.name, ...here.context].filter(Boolean).slice(0, 3);
    const pointer = `${here.pointer}/${escapePointer(name)}`;
    visit(field, {
      pointer,
      name,
      context,
      type: "",
      description: "",
      isBesideFile,
      shown: undefined,
      trail: here.trail,
    });
  }
}

const FILE_PROPERTIES = ["content_type", "file_name", "file_size", "mime_type", "width", "file_data"];

function isFileObject(root: JsonObject, { properties }: JsonObject): boolean {
  if (!isObject(properties) || !Object.hasOwn(properties, "url")) return false;
  const url = isObject(properties.url) ? (findDefinition(root, properties.url) ?? properties.url) : {};
  return takesText(url) && FILE_PROPERTIES.some((name) => Object.hasOwn(properties, name));
}

const takesText = (schema: JsonObject): boolean =>
  [schema.type].flat().includes("string") ||
  ["anyOf", "oneOf"].some((key) =>
    ((schema[key] as unknown[] | undefined) ?? []).some((form) => isObject(form) && form.type === "string"),
  );

const SHOWN_AS_FILE = ["image", "video", "audio", "file", "mask", "archive"];

function isFileText(schema: JsonObject, { name, description, isBesideFile, shown }: Place): boolean {
  if (![schema.type].flat().includes("string")) return false;
  if (schema.enum !== undefined || schema.const !== undefined) return false;
  if (SHOWN_AS_FILE.includes(shown ?? "") || schema.format === "binary") return true;
  if (namesAddress(name)) return false;
  if (schema.format === "uri") return true;
  return namesUrl(name) || (namesMedium(name) && (isBesideFile || speaksOfUrl(description)));
}
