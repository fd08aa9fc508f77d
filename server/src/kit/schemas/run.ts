// The shapes that answers are made of, with the names of the interface. One value each: it types the code, checks in
// tests and prints the contract.
import { z } from "zod";
import { pageSchema } from "../pagination.ts";

export type JsonObject = Record<string, unknown>;

export const RUN_STATUSES = ["queued", "processing", "completed", "failed", "canceled"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

const time = (says: string) => z.iso.datetime().describe(says);

const Box = z.object({ x: z.int(), y: z.int(), width: z.int(), height: z.int() });

const RunOutput = z
  .object({
    asset_id: z.uuid(),
    url: z.url().describe("Stable URL of the file. No authentication needed"),
    media_type: z.string(),
    width: z.int(),
    height: z.int(),
    size_bytes: z.int(),
    sha256: z.string(),
    role: z.string().describe("What the file is to the run: result, source, mask"),
    name: z.string().optional().describe("What was found, where something was looked for"),
    score: z.number().optional().describe("How sure the model is of it, 0 to 1"),
    box: Box.optional().describe("Where it lies"),
    duration: z.number().optional().describe("Seconds, of a video"),
    fps: z.number().optional().describe("Frames per second, of a video"),
  })
  .meta({ id: "Output" });
export type RunOutput = z.infer<typeof RunOutput>;

export const ErrorBody = z
  .object({
    message: z.string().describe("A sentence for people"),
    code: z.string().optional().describe("A word for programs, from the list of errors"),
    details: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: "Error" });

const Attempt = z
  .object({
    job: z.int().describe("Which job of the run"),
    try: z.int().describe("Counts from 1 within the job"),
    provider: z.string(),
    upstream: z.string().nullable().describe("The provider's own name for the model"),
    state: z
      .enum(["intent", "submitted", "succeeded", "failed", "unknown", "abandoned"])
      .describe("unknown: the request was sent and its outcome is not known"),
    request: z.record(z.string(), z.unknown()).nullable().describe("What was sent, without secrets and pictures"),
    error: ErrorBody.nullable(),
    created_at: time("When it was begun"),
    finished_at: time("When it ended").nullable(),
  })
  .meta({ id: "Attempt" });
export type Attempt = z.infer<typeof Attempt>;

export const Run = z
  .object({
    run_id: z.uuid().describe("The run's id"),
    user_id: z.string().describe("Who started it"),
    created_at: time("When it was accepted"),
    updated_at: time("When it last changed"),
    image_url: z.url().nullable().describe("The image; null until the run has completed"),
    image_urls: z.array(z.url()).describe("All images of the run"),
    video_url: z.url().nullable().describe("The video, for runs that make one"),
    outputs: z.array(RunOutput).describe("Every file the run made"),
    result: z.record(z.string(), z.unknown()).nullable().describe("Result that is not a file, such as a description"),
    inputs: z.record(z.string(), z.unknown()).describe("What was asked, with defaults filled in and secrets left out"),
    live_status: z.enum(["pending", "processing", "completed", "failed", "canceled"]).nullable(),
    status: z.enum(RUN_STATUSES),
    progress: z.number().min(0).max(1),
    phase: z.string().nullable().describe("What is being done, for display only"),
    queue_position: z
      .int()
      .nullable()
      .describe("Position in the tenant's queue. Only returned when reading a single run that has not started"),
    estimated_start_at: time("When its turn is expected, where it is known").optional(),
    run_type: z.string().describe("The kind of run"),
    parent_run_id: z.uuid().nullable().describe("The run that this one was made from"),
    model: z.string().nullable(),
    provider: z.string().nullable(),
    cost: z.object({ amount: z.number(), currency: z.literal("USD") }).nullable(),
    warnings: z.array(z.string()).describe("Parameters that were adjusted or ignored"),
    metadata: z.record(z.string(), z.unknown()).describe("The caller's own notes, as given"),
    error: ErrorBody.nullable().describe("Why the run failed; null otherwise"),
    started_at: time("When work began").nullable(),
    finished_at: time("When it ended").nullable(),
    expires_at: time("Until when its files are kept").nullable(),
    attempts: z
      .array(Attempt)
      .optional()
      .describe("Provider attempts in order. Only returned when reading a single run"),
  })
  .meta({ id: "Run" });
export type Run = z.infer<typeof Run>;

export const Generation = Run.extend({
  data: z.object({ run_id: z.uuid(), image_url: z.url().nullable() }),
}).meta({ id: "Generation" });

/** The Run shape, with the two fields that one example of the interface reads under `data`. */
export const asGeneration = (run: Run) => ({ ...run, data: { run_id: run.run_id, image_url: run.image_url } });

export const RunPage = pageSchema(Run, "RunPage");
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

/** The envelope of character and reference generation. */
export const envelopeSchema = <Type extends string>(runType: Type) =>
  z.object({
    success: z.boolean().describe("False when the run failed or the request was refused"),
    message: z.string().describe("A sentence for people"),
    data: z
      .object({
        run_id: z.uuid(),
        status: z.enum(RUN_STATUSES).optional(),
        live_status: z.string().optional(),
        progress: z.number().min(0).max(1).optional(),
        image_url: z.url().nullable().optional().describe("The image; null until the run has completed"),
        created_at: time("When it was accepted").optional(),
        updated_at: time("When it last changed").optional(),
        run_type: z.literal(runType).optional(),
        warnings: z.array(z.string()).optional().describe("Parameters that were adjusted or ignored"),
      })
      .optional()
      .describe("The run; absent when the request was refused"),
    code: z.string().optional().describe("Why it failed, a word for programs"),
    details: z.record(z.string(), z.unknown()).optional(),
  });

const STATUS_MESSAGES: Record<RunStatus, string> = {
  queued: "The run is accepted.",
  processing: "The run is under way.",
  completed: "The run has completed.",
  failed: "The run failed.",
  canceled: "The run was canceled.",
};

export const asEnvelope = (run: Run) => ({
  success: run.error === null,
  message: run.error?.message ?? STATUS_MESSAGES[run.status],
  data: {
    run_id: run.run_id,
    status: run.status,
    live_status: run.live_status ?? run.status,
    progress: run.progress,
    image_url: run.image_url,
    created_at: run.created_at,
    updated_at: run.updated_at,
    run_type: run.run_type,
    warnings: run.warnings,
  },
  ...(run.error && { code: run.error.code, details: run.error.details }),
});

export const Description = z
  .object({
    run_id: z.uuid(),
    status: z.enum(RUN_STATUSES),
    description: z.string().optional().describe("What the image shows; absent until the run has completed"),
    tags: z.array(z.string()).optional().describe("What is in it, in single words"),
    prompt: z.string().optional().describe("A prompt that would make something like it"),
    width: z.int().optional().describe("Of the image, in pixels"),
    height: z.int().optional().describe("Of the image, in pixels"),
    error: ErrorBody.optional().describe("Why the run failed"),
  })
  .meta({ id: "Description" });

export const Enhancement = z
  .object({
    run_id: z.uuid(),
    status: z.enum(RUN_STATUSES),
    prompt: z.string().describe("As it was sent"),
    enhanced_prompt: z.string().optional().describe("The better prompt; absent until the run has completed"),
    model_type: z.string().describe("The model that it is for"),
    changes: z
      .array(z.object({ kind: z.string().describe("Style, light, composition"), added: z.string() }))
      .optional()
      .describe("What was added, and of which kind"),
    error: ErrorBody.optional().describe("Why the run failed"),
  })
  .meta({ id: "Enhancement" });

export const Extraction = Run.extend({
  objects: z
    .array(
      z.object({
        name: z.string(),
        score: z.number().nullable().describe("How sure the model is, 0 to 1"),
        box: Box.nullable().describe("Where it lies in the source"),
        asset_id: z.uuid(),
        image_url: z.url().describe("The object cut out, or its mask in mode mask"),
        mask_url: z.url().nullable().describe("Where it lies, in white"),
      }),
    )
    .describe("What was found; empty until the run has completed"),
}).meta({ id: "Extraction" });

export const Video = Run.extend({
  input: z.record(z.string(), z.unknown()).describe("What was asked, the same as inputs"),
}).meta({ id: "Video" });

export const BackgroundRemoved = z
  .object({
    url: z.url().nullable().describe("The image without its background; null while the run is open"),
    runId: z.uuid(),
    parentRunId: z.uuid().optional().describe("The run that was given as the source"),
  })
  .meta({ id: "BackgroundRemoved" });
