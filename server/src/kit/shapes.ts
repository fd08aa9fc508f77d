// The shapes that answers are made of, with the names of the interface. One value each: it types the code, checks in
// tests and prints the contract.
import { z } from "zod";

export type Json = Record<string, unknown>;

export const STATUSES = ["queued", "processing", "completed", "failed", "canceled"] as const;
export type Status = (typeof STATUSES)[number];

const time = (says: string) => z.iso.datetime().describe(says);

const Output = z
  .object({
    asset_id: z.uuid(),
    url: z.url().describe("Stable address of the file; it works without a credential"),
    media_type: z.string(),
    width: z.int(),
    height: z.int(),
    size_bytes: z.int(),
    sha256: z.string(),
    role: z.string().describe("What the file is to the run: result, source, mask"),
    name: z.string().optional().describe("What was found, where something was looked for"),
    score: z.number().optional().describe("How sure the model is of it, 0 to 1"),
    box: z.object({ x: z.int(), y: z.int(), width: z.int(), height: z.int() }).optional().describe("Where it lies"),
    duration: z.number().optional().describe("Seconds, of a video"),
    fps: z.number().optional().describe("Frames per second, of a video"),
  })
  .meta({ id: "Output" });
export type Output = z.infer<typeof Output>;

export const ErrorBody = z
  .object({
    message: z.string().describe("A sentence for people"),
    code: z.string().optional().describe("A word for programs, from the list of errors"),
    details: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: "Error" });

export const Run = z
  .object({
    run_id: z.uuid().describe("The run's id"),
    user_id: z.string().describe("Who started it"),
    created_at: time("When it was accepted"),
    updated_at: time("When it last changed"),
    image_url: z.url().nullable().describe("The image; null until the run has completed"),
    image_urls: z.array(z.url()).describe("All images of the run"),
    video_url: z.url().nullable().describe("The video, for runs that make one"),
    outputs: z.array(Output).describe("Every file the run made"),
    inputs: z.record(z.string(), z.unknown()).describe("What was asked, with defaults filled in and secrets left out"),
    live_status: z.enum(["pending", "processing", "completed", "failed", "canceled"]).nullable(),
    status: z.enum(STATUSES),
    progress: z.number().min(0).max(1),
    phase: z.string().nullable().describe("What is being done, for display only"),
    queue_position: z.int().nullable(),
    run_type: z.string().describe("The kind of run"),
    parent_run_id: z.uuid().nullable().describe("The run that this one was made from"),
    model: z.string().nullable(),
    provider: z.string().nullable(),
    cost: z.object({ amount: z.number(), currency: z.literal("USD") }).nullable(),
    warnings: z.array(z.string()).describe("What was taken but adapted or not used"),
    metadata: z.record(z.string(), z.unknown()).describe("The caller's own notes, as given"),
    error: ErrorBody.nullable().describe("Why the run failed; null otherwise"),
    started_at: time("When work began").nullable(),
    finished_at: time("When it ended").nullable(),
    expires_at: time("Until when its files are kept").nullable(),
  })
  .meta({ id: "Run" });
export type Run = z.infer<typeof Run>;

export const Generation = Run.extend({
  data: z.object({ run_id: z.uuid(), image_url: z.url().nullable() }),
}).meta({ id: "Generation" });

/** The Run shape, with the two fields that one example of the interface reads under `data`. */
export const asGeneration = (run: Run) => ({ ...run, data: { run_id: run.run_id, image_url: run.image_url } });

export const RunPage = z
  .object({ data: z.array(Run), next_cursor: z.string().nullable().describe("Give it as `cursor` for the next page") })
  .meta({ id: "RunPage" });
export type RunPage = z.infer<typeof RunPage>;

export const Upload = z
  .object({
    success: z.boolean(),
    message: z.string(),
    data: z.object({
      id: z.uuid(),
      image_url: z.url(),
      run_id: z.uuid(),
      created_at: time("When it was stored"),
      parent_id: z.uuid().optional().describe("The run it is linked to"),
    }),
  })
  .meta({ id: "Upload" });

export const asUpload = (run: Run) => ({
  success: true,
  message: run.run_type === "mask-upload" ? "The mask is stored." : "The image is stored.",
  data: {
    id: run.outputs[0]!.asset_id,
    image_url: run.image_url!,
    run_id: run.run_id,
    created_at: run.created_at,
    ...(run.parent_run_id ? { parent_id: run.parent_run_id } : {}),
  },
});
