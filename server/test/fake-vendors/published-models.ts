// Models that a fake vendor publishes although nothing was written for them: a test gives the document that the vendor
// publishes, and the fake checks requests and makes results by it. It reads the schemas in a way of its own, so that it
// can contradict the product.
import { Ajv, type ValidateFunction } from "ajv";
import sharp from "sharp";
import type { FakeVendorServices } from "./fake-vendor.ts";
import { createTestVideo, drawTestImage } from "./result-files.ts";

type Schema = Record<string, any>;

/** A document of OpenAPI 3.0. `input` and `output` are its schemas. */
export type PublishedModel = { document: Schema; input: Schema; output: Schema };

const MAX_FILES = 4;

const ajv = new Ajv({ strict: false, validateFormats: false, logger: false });
const validators = new WeakMap<Schema, ValidateFunction>();

/** As its server would say it: neither fal nor Replicate refuses a field that it does not know. */
export function findInputProblems({ document, input }: PublishedModel, request: unknown): string[] {
  const validate =
    validators.get(input) ?? ajv.compile(toDraft7({ ...input, components: document.components }) as Schema);
  validators.set(input, validate);
  return validate(request) ? [] : (validate.errors ?? []).map((each) => `${each.instancePath} ${each.message}`);
}

/** Bounds and null in the forms of JSON Schema, not in those of OpenAPI 3.0. Requests lack what only results have. */
function toDraft7(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toDraft7);
  if (typeof value !== "object" || value === null) return value;
  const { nullable, ...schema } = value as Schema;
  for (const [exclusive, inclusive] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    if (typeof schema[exclusive] !== "boolean") continue;
    if (schema[exclusive]) schema[exclusive] = schema[inclusive];
    else delete schema[exclusive];
  }
  const isOfResults = (name: string) => schema.properties?.[name]?.readOnly === true;
  if (Array.isArray(schema.required)) schema.required = schema.required.filter((name) => !isOfResults(name));
  const out = Object.fromEntries(Object.entries(schema).map(([key, each]) => [key, toDraft7(each)]));
  return nullable === true ? { anyOf: [out, { type: "null" }] } : out;
}

/** A result of the model, with files in the storage of the vendor. */
export async function makeResult(
  { document, output }: PublishedModel,
  request: Record<string, unknown>,
  services: FakeVendorServices,
): Promise<unknown> {
  // A number of images that no model would make is one of a generated request.
  const count = Math.min(MAX_FILES, Math.max(1, Math.trunc(Number(request.num_images ?? 1)) || 1));
  /** `words`: the names and descriptions that lead to the value, the nearest first. */
  const make = async (schema: Schema, words: string[]): Promise<unknown> => {
    if (schema.$ref) {
      const path = String(schema.$ref).slice(2).split("/");
      const target = path.reduce<Schema>((at, key) => at[key], document);
      return make(target, [path.at(-1)!, ...words]);
    }
    const [part] = schema.allOf ?? schema.anyOf ?? schema.oneOf ?? [];
    if (part) return make(part, words);
    const { properties } = schema;
    if (properties?.url) return { ...(await fileOf(words, request, services)), file_name: "result" };
    if (properties) {
      const entries = Object.entries<Schema>(properties).map(async ([name, each]) => [
        name,
        await make(each, [name, ...(each.description ? [String(each.description)] : []), ...words]),
      ]);
      return Object.fromEntries(await Promise.all(entries));
    }
    if (schema.items) return Promise.all(Array.from({ length: count }, () => make(schema.items, words)));
    if (schema.enum) return schema.enum[0];
    if (schema.format === "uri") return (await fileOf(words, request, services)).url;
    if (schema.type === "string" && /base64/i.test(words[1] ?? "")) return createWave().toString("base64");
    return { string: `the ${words[0]}`, integer: 1, number: 0.5, boolean: false }[schema.type as string] ?? {};
  };
  return make(output, []);
}

async function fileOf(words: string[], request: Schema, services: FakeVendorServices) {
  const make = words.map(findMaker).find((each) => each !== undefined) ?? makeImage;
  const [bytes, content_type] = await make(words.join(" "), request);
  return { url: services.storeFile(bytes, content_type), content_type, file_size: bytes.byteLength };
}

type Maker = (words: string, request: Schema) => Promise<[Uint8Array, string]>;

/** In the requested size, and mostly transparent if the request says so. */
const makeImage: Maker = async (words, { image_size, background }) => {
  const { width = 64, height = 64 } = typeof image_size === "object" && image_size !== null ? image_size : {};
  const isSize = (side: unknown) => Number.isInteger(side) && Number(side) >= 16 && Number(side) <= 4096;
  const image = isSize(width) && isSize(height) ? drawTestImage(words, width, height) : drawTestImage(words);
  if (background !== "transparent") return [await image, "image/png"];
  return [
    await sharp(await image)
      .ensureAlpha(0.2)
      .png()
      .toBuffer(),
    "image/png",
  ];
};

/** What a name or a description says about a file. */
const MAKERS: [RegExp, Maker][] = [
  [/image|thumbnail|texture|mask|frame/, makeImage],
  [/video/, async () => [await createTestVideo(), "video/mp4"]],
  [/audio|speech|sound|vocals/, async () => [createWave(), "audio/wav"]],
  [/glb|mesh|3d/, async () => [createScene(), "model/gltf-binary"]],
  [/zip|archive/, async () => [Buffer.from("504b0506".padEnd(44, "0"), "hex"), "application/zip"]],
  [
    /lora|weights|config/,
    async () => [Buffer.from("0200000000000000".padEnd(64, "7b7d"), "hex"), "application/octet-stream"],
  ],
];
const findMaker = (words: string) => MAKERS.find(([pattern]) => pattern.test(words.toLowerCase()))?.[1];

/** A second of silence. */
export function createWave(): Buffer {
  const samples = Buffer.alloc(16_000);
  const header = Buffer.alloc(44);
  header.write("RIFF", 0);
  header.writeUInt32LE(36 + samples.length, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(8000, 24);
  header.writeUInt32LE(16_000, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36);
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}

/** An empty scene in binary glTF. */
function createScene(): Buffer {
  const json = Buffer.from('{"asset":{"version":"2.0"}}  ');
  const header = Buffer.alloc(20);
  header.write("glTF", 0);
  header.writeUInt32LE(2, 4);
  header.writeUInt32LE(20 + json.length, 8);
  header.writeUInt32LE(json.length, 12);
  header.write("JSON", 16);
  return Buffer.concat([header, json]);
}
