// Inputs of an operation, made from the schema of its fields, with known names of models.
import { z } from "zod";
import type { Operation } from "../../src/contract/operation.ts";
import type { JsonObject } from "../../src/contract/schemas/run.ts";

type Property = JsonObject & { enum?: unknown[]; type?: string; const?: unknown; minimum?: number; anyOf?: Property[] };
export type SampledField = { name: string; sample: unknown; isRequired: boolean };

const URL = "https://example.com/a.png";
const RUN = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";

/** One image is what a job without a number makes. */
const NUMBERS_OF_IMAGES = ["batch_size", "batch_count", "n", "num_images"];

/** A value of a field. Plans only pass values on, so that any value of its type will do. */
function sampleOf(name: string, { enum: choices, type, anyOf, const: only, minimum }: Property): unknown {
  if (only !== undefined) return only;
  if (choices) return choices.at(-1);
  if (anyOf) return sampleOf(name, anyOf[0]!);
  if (type === "array" && name === "images") return [{ image_reference: URL, tag: "hero" }, URL];
  if (type === "array") return [name.startsWith("run") ? RUN : URL];
  if (type === "boolean") return true;
  // A factor between those of image.upscale needs every job that can follow.
  if (name === "upscale_factor") return 1.5;
  if (NUMBERS_OF_IMAGES.includes(name)) return 2;
  if (type === "integer" || type === "number") return minimum ?? 1;
  if (name.startsWith("lora")) return "film-grain";
  return name.endsWith("ratio") ? "16:9" : name.endsWith("run_id") ? RUN : URL;
}

const propertiesOf = (operation: Operation) =>
  z.toJSONSchema(operation.input, { io: "output", unrepresentable: "any" });

export function sampleFields(operation: Operation): SampledField[] {
  const { properties = {}, required = [] } = propertiesOf(operation);
  return Object.entries(properties as Record<string, Property>).map(([name, property]) => ({
    ...{ name, sample: sampleOf(name, property), isRequired: required.includes(name) },
  }));
}

/** The known names of the fields that select a model, one input part each. */
export function listModelChoices(operation: Operation): JsonObject[] {
  const properties = (propertiesOf(operation).properties ?? {}) as Record<string, Property>;
  return ["model", "model_type"].flatMap((name) => {
    const { enum: choices = [], anyOf = [] } = properties[name] ?? {};
    return [...choices, ...anyOf.flatMap((each) => each.enum ?? [])].map((choice) => ({ [name]: choice as string }));
  });
}
