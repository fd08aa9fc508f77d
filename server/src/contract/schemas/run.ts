// Response schemas of runs. Each schema types the code, is checked in tests, and generates the OpenAPI description.
import { z } from "zod";
import { pageSchema } from "../pagination.ts";

export type JsonObject = Record<string, unknown>;

export const RUN_STATUSES = ["queued", "processing", "completed", "failed", "canceled"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

const time = (description: string) => z.iso.datetime().describe(description);

const Box = z.object({ x: z.int(), y: z.int(), width: z.int(), height: z.int() });

const Thumbnails = z
  .object({
    small: z.url().describe("Signed URL of a WebP file whose longer side has at most 320 pixels"),
    large: z.url().describe("Signed URL of a WebP file whose longer side has at most 640 pixels"),
  })
  .meta({ id: "Thumbnails" });

const OutputProvenance = z
  .object({
    status: z
      .enum(["signed", "marked", "received"])
      .describe(
        "signed: the file has a C2PA manifest that this installation signed. marked: it has the IPTC digital source " +
          "type. received: it has the C2PA manifest of the provider, unchanged",
      ),
    digital_source_type: z.string().describe("What made the file, as a URL of the IPTC vocabulary"),
    manifest_hash: z.string().nullable().describe("SHA-256 of the C2PA manifest store. null without a manifest"),
  })
  .meta({ id: "OutputProvenance" });

export const RunOutput = z
  .object({
    asset_id: z.uuid(),
    url: z.url().describe("Stable, signed URL of the file. Needs no authentication"),
    media_type: z
      .string()
      .describe("Media type of the file, such as image/png, video/mp4, audio/wav or model/gltf-binary"),
    width: z
      .int()
      .nullable()
      .describe("Width in pixels. null for files without pixels, and in formats that Gesso does not read"),
    height: z.int().nullable().describe("Height in pixels, or null"),
    size_bytes: z.int(),
    sha256: z.string(),
    role: z.string().describe("Role of the file: result, source or mask"),
    name: z.string().optional().describe("Name of the object, for operations that find objects"),
    score: z.number().optional().describe("Confidence of the model, 0 to 1"),
    box: Box.optional().describe("Bounding box in pixels"),
    duration: z.number().optional().describe("Duration of a video in seconds"),
    fps: z.number().optional().describe("Frames per second of a video"),
    thumbnails: Thumbnails.nullable().describe(
      "Small copies of the image, or of the first frame of the video. null if there are none, as for runs of earlier " +
        "versions",
    ),
    thumbhash: z
      .string()
      .nullable()
      .describe("ThumbHash in base64: about 25 bytes for a blurred placeholder. null without thumbnails"),
    provenance: OutputProvenance.nullable().describe(
      "How the file says what made it. null for uploads, if PROVENANCE is off, and for runs of earlier versions",
    ),
  })
  .meta({ id: "Output" });
export type RunOutput = z.infer<typeof RunOutput>;

export const ErrorBody = z
  .object({
    message: z.string().describe("Message for people. It can change"),
    code: z.string().optional().describe("Error code for programs. It never changes"),
    details: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: "Error" });

/** The error body of operations whose response has `success`. */
export const EnvelopeError = z.object({ success: z.literal(false), ...ErrorBody.shape }).meta({ id: "EnvelopeError" });

/** The error body of video generation: a failed run has the same two fields. */
export const VideoError = z
  .object({ ...ErrorBody.shape, status: z.literal("failed"), error: ErrorBody })
  .meta({ id: "VideoError" });

const Attempt = z
  .object({
    job: z.int().describe("Index of the job in the run, from 0"),
    try: z.int().describe("Attempt number within the job, from 1"),
    provider: z.string(),
    upstream: z.string().nullable().describe("Name of the model at the provider"),
    state: z
      .enum(["intent", "submitted", "succeeded", "failed", "unknown"])
      .describe("unknown: the request was sent and its outcome is not known"),
    request: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe("Method, path and parameters of the request to the provider, without URLs, secrets and files"),
    error: ErrorBody.nullable(),
    created_at: time("Time of the start"),
    finished_at: time("Time of the end").nullable(),
  })
  .meta({ id: "Attempt" });
export type Attempt = z.infer<typeof Attempt>;

export const Run = z
  .object({
    run_id: z.uuid().describe("ID of the run"),
    user_id: z.string().describe("User who created the run"),
    end_user: z
      .string()
      .nullable()
      .describe("Your own ID of the visitor of your app whom the run is for. null: none was named"),
    customer: z
      .string()
      .nullable()
      .describe("Your own ID of the customer whom the cost of the run counts for. null: none was named"),
    created_at: time("Time when Gesso accepted the run"),
    updated_at: time("Time of the last change"),
    image_url: z.url().nullable().describe("URL of the image. null until the run completes"),
    image_urls: z.array(z.url()).describe("URLs of all images"),
    video_url: z.url().nullable().describe("URL of the video, for runs that create one"),
    outputs: z.array(RunOutput).describe("All files of the run"),
    result: z.record(z.string(), z.unknown()).nullable().describe("Result that is not a file, such as a description"),
    inputs: z.record(z.string(), z.unknown()).describe("Input of the run, with defaults and without secrets"),
    given: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe(
        "Only the fields that the caller set, without secrets: the same input again gives the same request. " +
          "null for uploads and for runs of earlier versions",
      ),
    live_status: z.enum(["pending", "processing", "completed", "failed", "canceled"]).nullable(),
    status: z.enum(RUN_STATUSES),
    progress: z.number().min(0).max(1),
    phase: z.string().nullable().describe("Current activity, for display only"),
    queue_position: z
      .int()
      .nullable()
      .describe("Position in the tenant's queue. Only returned when reading a single run that has not started"),
    estimated_start_at: time("Expected start, if it can be estimated").optional(),
    operation: z.string().describe("Name of the operation that created the run, such as images.generate"),
    run_type: z.string().describe("Kind of the run, set by the operation"),
    parent_run_id: z.uuid().nullable().describe("Run that this run was derived from"),
    model: z.string().nullable(),
    provider: z.string().nullable(),
    cost: z
      .object({ amount: z.number(), currency: z.literal("USD") })
      .nullable()
      .describe(
        "Cost of a completed run, or of the jobs that providers had accepted before the run was canceled. null while " +
          "the run is open, if it cost nothing because it failed or was canceled in time, or if the price is unknown",
      ),
    warnings: z.array(z.string()).describe("Parameters that were adjusted or ignored"),
    metadata: z.record(z.string(), z.unknown()).describe("Your own key-value data, as sent"),
    starred: z
      .boolean()
      .optional()
      .describe("Whether the run has a star. Only returned by runs.get, runs.list and runs.update"),
    tags: z
      .array(z.string())
      .optional()
      .describe(
        "Your own tags of the run, at first those it was created with. Only returned by runs.get, runs.list and runs.update",
      ),
    error: ErrorBody.nullable().describe("Error of a failed or canceled run. null otherwise"),
    started_at: time("Time of the start").nullable(),
    finished_at: time("Time of the end").nullable(),
    expires_at: time("Time when Gesso removes the files. null: never, or the run is open").nullable(),
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

/** A run with `run_id` and `image_url` repeated under `data`, as the contract of images.generate requires. */
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
      created_at: time("Time of the upload"),
      parent_id: z.uuid().optional().describe("Run that the upload is linked to"),
    }),
  })
  .meta({ id: "Upload" });

export const asUpload = (run: Run) => ({
  success: true,
  message: run.run_type === "mask-upload" ? "Mask stored." : "Image stored.",
  data: {
    id: run.outputs[0]!.asset_id,
    image_url: run.image_url!,
    run_id: run.run_id,
    created_at: run.created_at,
    ...(run.parent_run_id ? { parent_id: run.parent_run_id } : {}),
  },
});

/** The response of character and reference generation. */
export const envelopeSchema = <Type extends string>(runType: Type) =>
  z.object({
    success: z.boolean().describe("false if the run failed or the request was refused"),
    message: z.string().describe("Message for people. It can change"),
    data: z
      .object({
        run_id: z.uuid(),
        status: z.enum(RUN_STATUSES).optional(),
        live_status: z.string().optional(),
        progress: z.number().min(0).max(1).optional(),
        image_url: z.url().nullable().optional().describe("URL of the image. null until the run completes"),
        created_at: time("Time when Gesso accepted the run").optional(),
        updated_at: time("Time of the last change").optional(),
        run_type: z.literal(runType).optional(),
        warnings: z.array(z.string()).optional().describe("Parameters that were adjusted or ignored"),
      })
      .optional()
      .describe("The run. Absent if the request was refused"),
    code: z.string().optional().describe("Error code, if the run failed or the request was refused"),
    details: z.record(z.string(), z.unknown()).optional(),
  });

const STATUS_MESSAGES: Record<RunStatus, string> = {
  queued: "Run accepted.",
  processing: "Run in progress.",
  completed: "Run completed.",
  failed: "Run failed.",
  canceled: "Run canceled.",
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
    description: z.string().optional().describe("Description of the image. Absent until the run completes"),
    tags: z.array(z.string()).optional().describe("Keywords of the image"),
    prompt: z.string().optional().describe("Prompt for a similar image"),
    width: z.int().optional().describe("Size of the image in pixels"),
    height: z.int().optional().describe("Size of the image in pixels"),
    error: ErrorBody.optional().describe("Error of a failed run"),
  })
  .meta({ id: "Description" });

export const Enhancement = z
  .object({
    run_id: z.uuid(),
    status: z.enum(RUN_STATUSES),
    prompt: z.string().describe("Prompt that you sent"),
    enhanced_prompt: z.string().optional().describe("Enhanced prompt. Absent until the run completes"),
    model_type: z.string().describe("Model that the prompt is enhanced for"),
    changes: z
      .array(
        z.object({
          kind: z.string().describe("Kind of the change, such as style, light or composition"),
          added: z.string(),
        }),
      )
      .optional()
      .describe("Additions to the prompt"),
    error: ErrorBody.optional().describe("Error of a failed run"),
  })
  .meta({ id: "Enhancement" });

export const Extraction = Run.extend({
  objects: z
    .array(
      z.object({
        name: z.string(),
        score: z.number().nullable().describe("Confidence of the model, 0 to 1"),
        box: Box.nullable().describe("Bounding box in the source image, in pixels"),
        asset_id: z.uuid(),
        image_url: z.url().describe("URL of the extracted object, or of its mask with mode mask"),
        mask_url: z.url().nullable().describe("URL of the mask. White marks the object"),
      }),
    )
    .describe("Objects found. Empty until the run completes"),
}).meta({ id: "Extraction" });

export const Video = Run.extend({
  input: z.record(z.string(), z.unknown()).describe("Input of the run, same as inputs"),
}).meta({ id: "Video" });

export const BackgroundRemoved = z
  .object({
    url: z.url().nullable().describe("URL of the image without background. null while the run is open"),
    runId: z.uuid(),
    parentRunId: z.uuid().optional().describe("Source run, if the source was a run"),
  })
  .meta({ id: "BackgroundRemoved" });
