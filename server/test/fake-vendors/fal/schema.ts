// The inputs of fal's endpoints, from the type definitions of its own client, the best list of field names available.
// Inputs are validated as fal does.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

type Complaint = { loc: string[]; msg: string; type: string };

const SIZES = ["square_hd", "square", "portrait_4_3", "portrait_16_9", "landscape_4_3", "landscape_16_9", "auto"];
const textField = (name: string, values: readonly string[]) =>
  ` ${name}?: ${values.map((value) => JSON.stringify(value)).join(" | ")};\n`;
const GPT_IMAGE =
  ` prompt: string;\n image_size?: ImageSize | ${SIZES.map((size) => JSON.stringify(size)).join(" | ")};\n` +
  ` num_images?: number;\n${textField("quality", ["auto", "low", "medium", "high", "xhigh", "max"])}` +
  textField("background", ["auto", "transparent", "opaque"]) +
  textField("output_format", ["jpeg", "png", "webp"]);
const NANO_BANANA =
  ` prompt: string;\n aspect_ratio?: string;\n seed?: number;\n num_images?: number;\n` +
  textField("resolution", ["1K", "2K", "4K"]) +
  textField("output_format", ["jpeg", "png", "webp"]);

/** Newer than the map: as their pages describe them. */
const EXTRA_ENDPOINTS: Record<string, string> = {
  "openai/gpt-image-2.5/flare/text-to-image": `{\n${GPT_IMAGE}};`,
  "openai/gpt-image-2.5/flare/edit": `{\n${GPT_IMAGE} image_urls: Array<string>;\n mask_url?: string;\n};`,
  "google/nano-banana-2.1": `{\n${NANO_BANANA}};`,
  "google/nano-banana-2.1/edit": `{\n${NANO_BANANA} image_urls: Array<string>;\n};`,
  "fal-ai/flux-pro/v1/erase":
    "{\n image_url: string | Blob | File;\n mask_url: string | Blob | File;\n dilate_pixels?: number;\n};",
};
/** Bounds that the type definitions only have in comments. */
const BOUNDS: Record<string, [least: number, most: number]> = {
  num_images: [1, 8],
  mask_expansion: [0, 50],
  num_frames: [17, 161],
  frames_per_second: [4, 60],
  dilate_pixels: [0, 25],
};

const client = dirname(createRequire(import.meta.url).resolve("@fal-ai/client"));
const map = readFileSync(join(client, "types", "endpoints.d.ts"), "utf8").replaceAll(/\/\*\*[\s\S]*?\*\//g, "");

const types = new Map(
  [...map.matchAll(/^(?:export )?type (\w+) = (\{[\s\S]*?^\};|[^{][^\n]*;)/gm)].map(([, name = "", type = ""]) => [
    name,
    type.replace(/;$/, ""),
  ]),
);
const endpoints = new Map(
  [...map.matchAll(/^ {4}"([^"]+)": \{\s*input: (\w+);\s*output: (\w+);/gm)].map(
    ([, id = "", input = "", output = ""]) => [id, { input, output }],
  ),
);

const resolve = (name: string): string => {
  const type = types.get(name);
  return type && /^\w+$/.test(type) ? resolve(type) : (type ?? "");
};

type Field = { isOptional: boolean; type: string };
const fieldsOf = (type: string): Map<string, Field> =>
  new Map(
    [...type.matchAll(/^\s*(\w+)(\??): ([^;]+);/gm)].map(([, name = "", mark, field = ""]) => [
      name,
      { isOptional: mark === "?", type: field.trim() },
    ]),
  );

export const isKnownEndpoint = (endpoint: string) => endpoint in EXTRA_ENDPOINTS || endpoints.has(endpoint);
export const endpointIds = () => [...endpoints.keys(), ...Object.keys(EXTRA_ENDPOINTS)];

/** Whether the endpoint reports an image that its safety checker withheld. */
export const hasSafetyChecker = (endpoint: string) =>
  resolve(endpoints.get(endpoint)?.output ?? "").includes("has_nsfw_concepts");

export function validateFalInput(endpoint: string, input: Record<string, unknown>): Complaint[] {
  const fields = fieldsOf(EXTRA_ENDPOINTS[endpoint] ?? resolve(endpoints.get(endpoint)?.input ?? ""));
  return complain(fields, input, ["body"]);
}

function complain(fields: Map<string, Field>, input: Record<string, unknown>, at: string[]): Complaint[] {
  const unknown = Object.keys(input).filter((name) => !fields.has(name));
  return [
    ...unknown.map((name) => ({ loc: [...at, name], msg: "Extra inputs are not permitted", type: "extra_forbidden" })),
    ...[...fields].flatMap(([name, field]) => {
      const value = input[name];
      if (value === undefined) {
        return field.isOptional ? [] : [{ loc: [...at, name], msg: "Field required", type: "missing" }];
      }
      return fits(field.type, value) && isWithin(name, value)
        ? []
        : [{ loc: [...at, name], msg: `Input should be ${field.type}`, type: "value_error" }];
    }),
  ];
}

const isWithin = (name: string, value: unknown) => {
  const [least, most] = BOUNDS[name] ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  return typeof value !== "number" || (value >= least && value <= most);
};

function fits(type: string, value: unknown): boolean {
  const list = /^Array<(.*)>$/.exec(type);
  if (list) return Array.isArray(value) && value.every((each) => fits(list[1]!, each));
  if (type.includes(" | ")) return type.split(" | ").some((part) => fits(part, value));
  if (type.startsWith('"')) return value === JSON.parse(type);
  if (["string", "number", "boolean"].includes(type)) return typeof value === type;
  if (type === "Blob" || type === "File") return false;
  const fields = fieldsOf(resolve(type));
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return type === "unknown" || (isObject && complain(fields, value as Record<string, unknown>, []).length === 0);
}
