// The shapes of what runs leave behind and callers collect: trees of runs, layers of pictures, prices, and the prompt
// library, with the fields that its operations take.
import { z } from "zod";
import { nonBlankText } from "../fields.ts";
import { pageSchema } from "../pagination.ts";
import { Run } from "./run.ts";

const RunNode = Run.pick({
  run_id: true,
  run_type: true,
  status: true,
  live_status: true,
  image_url: true,
  video_url: true,
  parent_run_id: true,
  model: true,
  created_at: true,
})
  .extend({
    deleted: z.boolean().describe("True for a deleted run. It is listed because other runs were derived from it"),
  })
  .meta({ id: "RunNode" });
export type RunNode = z.infer<typeof RunNode>;

const RunEdge = z
  .object({
    from: z.uuid().describe("The run that was made"),
    to: z.uuid().describe("The run that it was made from"),
    kind: z.enum(["parent", "reference"]).describe("Whether `to` is the parent, or another run whose picture was used"),
    role: z.enum(["source", "mask", "link"]).describe("What the picture of `to` was used as; link: it was not used"),
  })
  .meta({ id: "RunEdge" });
export type RunEdge = z.infer<typeof RunEdge>;

export const RunTree = z
  .object({
    root_run_id: z.uuid().describe("The run that the tree began with"),
    nodes: z
      .array(RunNode)
      .describe("Every run of the tree, oldest first, then the runs of other trees that it refers to"),
    edges: z.array(RunEdge).describe("Both ends of every edge are among the nodes"),
  })
  .meta({ id: "RunTree" });
export type RunTree = z.infer<typeof RunTree>;

const LAYER_KINDS = ["source", "background", "object", "mask", "result"] as const;

const Layer = z
  .object({
    id: z.uuid().describe("The layer's id; the same at each read"),
    run_id: z.uuid().describe("The run that the picture belongs to"),
    kind: z.enum(LAYER_KINDS).describe("What the layer is to the run"),
    name: z.string(),
    image_url: z.url().nullable().describe("The picture; null where the layer is a video"),
    x: z.int().describe("Pixels from the left edge"),
    y: z.int().describe("Pixels from the upper edge"),
    width: z.int(),
    height: z.int(),
    z_index: z.int().describe("0 is the lowest"),
    opacity: z.number().min(0).max(1),
    visible: z.boolean(),
  })
  .meta({ id: "Layer" });
export type Layer = z.infer<typeof Layer>;

export const Layers = z.object({ data: z.object({ layers: z.array(Layer) }) }).meta({ id: "Layers" });
export type Layers = z.infer<typeof Layers>;

export const Estimate = z
  .object({
    currency: z.literal("USD"),
    amount: z.number().nullable().describe("The price; null where it is not known"),
    known: z.boolean().describe("Whether every price that it rests on is known"),
    basis: z
      .array(
        z.object({
          what: z.string().describe("The work, the model that does it, and what is counted"),
          quantity: z.number().describe("How many are counted: images, megapixels, seconds of video or calls"),
          unit_price: z.number().nullable().describe("The price of one; null where it is not known"),
          price_version: z.string().nullable().describe("Which list the price is from; null without a price"),
        }),
      )
      .describe("Breakdown of the amount, one item per job"),
  })
  .meta({ id: "Estimate" });
export type Estimate = z.infer<typeof Estimate>;

export const Prompt = z
  .object({
    id: z.uuid().describe("The prompt's id"),
    name: z.string(),
    text: z.string(),
    model_type: z.string().nullable().describe("The model that it is written for"),
    tags: z.array(z.string()),
    version: z.int().describe("Rises by one with every change"),
    created_at: z.iso.datetime().describe("When the prompt was made"),
    updated_at: z.iso.datetime().describe("When this version was made"),
  })
  .meta({ id: "Prompt" });
export type Prompt = z.infer<typeof Prompt>;

export const PromptPage = pageSchema(Prompt, "PromptPage");
export type PromptPage = z.infer<typeof PromptPage>;

export const promptName = () => nonBlankText("What the prompt is called", 200);
export const promptText = () => nonBlankText("The prompt itself", 8000);
export const promptTag = (says = "A tag") => nonBlankText(says, 50);
export const promptTags = () => z.array(promptTag()).max(20).describe("Words to find it by");
/** A version is a row's counter, so it is bounded as the column is. */
export const promptVersion = (says: string) => z.int().min(1).max(2147483647).describe(says);
