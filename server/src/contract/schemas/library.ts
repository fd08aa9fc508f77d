// Schemas of run trees, run counts, layers, estimates and the prompt library, and the input fields of its operations.
import { z } from "zod";
import { nonBlankText } from "../fields.ts";
import { pageSchema } from "../pagination.ts";
import { Run, RunOutput } from "./run.ts";

const RunNode = Run.pick({
  run_id: true,
  run_type: true,
  status: true,
  live_status: true,
  image_url: true,
  video_url: true,
  parent_run_id: true,
  model: true,
  provider: true,
  cost: true,
  created_at: true,
  started_at: true,
  finished_at: true,
})
  .extend({
    thumbnails: RunOutput.shape.thumbnails,
    thumbhash: RunOutput.shape.thumbhash,
    prompt: z.string().nullable().describe("Prompt of the run. null without one, or for a deleted run"),
    deleted: z.boolean().describe("True for a deleted run. It is listed because other runs were derived from it"),
  })
  .meta({ id: "RunNode" });
export type RunNode = z.infer<typeof RunNode>;

const RunEdge = z
  .object({
    from: z.uuid().describe("Run that was derived"),
    to: z.uuid().describe("Run that it was derived from"),
    kind: z
      .enum(["parent", "reference"])
      .describe("parent: `to` is the parent run; reference: `to` is another run whose image was used"),
    role: z
      .enum(["source", "mask", "link"])
      .describe("How the image of `to` was used: source or mask. link: the image was not used"),
  })
  .meta({ id: "RunEdge" });
export type RunEdge = z.infer<typeof RunEdge>;

export const RunTree = z
  .object({
    root_run_id: z.uuid().describe("First run of the tree"),
    nodes: z.array(RunNode).describe("Runs of the tree, oldest first, then the referenced runs of other trees"),
    edges: z.array(RunEdge).describe("Links between the runs. Both ends of every edge are in `nodes`"),
    totals: z
      .object({
        runs: z.int().describe("Runs of the tree, without referenced runs of other trees"),
        failed: z.int(),
        amount: z.number().describe("Cost of the runs of the tree in US dollars, including deleted ones"),
        unpriced: z.int().describe("Completed runs with an unknown price. `amount` does not include them"),
      })
      .describe("Sums over the tree"),
  })
  .meta({ id: "RunTree" });
export type RunTree = z.infer<typeof RunTree>;

export const RunHistogram = z
  .object({
    data: z
      .array(
        z.object({
          month: z.string().describe("Month in UTC, such as 2026-11"),
          count: z.int().describe("Runs that were accepted in the month, without deleted ones"),
        }),
      )
      .describe("Months with runs, newest first"),
  })
  .meta({ id: "RunHistogram" });
export type RunHistogram = z.infer<typeof RunHistogram>;

export const CanceledRuns = z
  .object({
    canceled: z.int().describe("Runs that were canceled, or asked to stop"),
    more: z.boolean().describe("Whether more runs may match. Send the request again to cancel them"),
  })
  .meta({ id: "CanceledRuns" });
export type CanceledRuns = z.infer<typeof CanceledRuns>;

const LAYER_KINDS = ["source", "background", "object", "mask", "result"] as const;

const Layer = z
  .object({
    id: z.uuid().describe("ID of the layer. Stable between reads"),
    run_id: z.uuid().describe("Run that produced the image"),
    kind: z.enum(LAYER_KINDS).describe("Role of the layer"),
    name: z.string(),
    image_url: z.url().nullable().describe("URL of the image. null for a video"),
    x: z.int().describe("Distance from the left edge in pixels"),
    y: z.int().describe("Distance from the top edge in pixels"),
    width: z.int(),
    height: z.int(),
    z_index: z.int().describe("Stacking order. 0 is the bottom layer"),
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
    amount: z.number().nullable().describe("Estimated cost in US dollars. null if a price is unknown"),
    known: z.boolean().describe("Whether all prices are known"),
    at_most: z
      .boolean()
      .describe(
        "Whether `amount` is a bound: the provider's response decides what the run costs, and it may cost less",
      ),
    basis: z
      .array(
        z.object({
          what: z.string().describe("Task, model and unit of the item"),
          quantity: z.number().describe("Number of units, such as images, megapixels, seconds of video or calls"),
          unit_price: z.number().nullable().describe("Price per unit in US dollars. null if unknown"),
          price_version: z.string().nullable().describe("Price list of the unit price. null without a price"),
        }),
      )
      .describe("Breakdown of the amount, one item for each unit of the price of each job"),
  })
  .meta({ id: "Estimate" });
export type Estimate = z.infer<typeof Estimate>;

export const Prompt = z
  .object({
    id: z.uuid().describe("ID of the prompt"),
    name: z.string(),
    text: z.string(),
    model_type: z.string().nullable().describe("Model that the prompt is written for"),
    tags: z.array(z.string()),
    version: z.int().describe("Version number. Increases by 1 with every change"),
    created_at: z.iso.datetime().describe("Time of creation"),
    updated_at: z.iso.datetime().describe("Time of the last change"),
  })
  .meta({ id: "Prompt" });
export type Prompt = z.infer<typeof Prompt>;

export const PromptPage = pageSchema(Prompt, "PromptPage");
export type PromptPage = z.infer<typeof PromptPage>;

export const promptName = () => nonBlankText("Name of the prompt, 1 to 200 characters", 200);
export const promptText = () => nonBlankText("Text of the prompt, 1 to 8,000 characters", 8000);
export const promptTag = (description = "A tag, 1 to 50 characters") => nonBlankText(description, 50);
export const promptTags = () => z.array(promptTag()).max(20).describe("Tags for searching, at most 20");
/** The upper bound is that of the integer column. */
export const promptVersion = (description: string) => z.int().min(1).max(2147483647).describe(description);
