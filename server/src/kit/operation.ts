// Declares a public operation as data. Its plan (the jobs for providers) is a pure function, so it is the same after a crash, on replay
// and in tests. Routes, OpenAPI, clients and documentation are generated from this declaration.
import type { z } from "zod";
import type { PublicFault } from "../faults.ts";
import type { AccessServices } from "./access-services.ts";
import type { Routing } from "./fields.ts";
import type { FilePart } from "./files.ts";
import type { FieldRule } from "./rules.ts";
import type { CustomModel, CustomModelPage, ModelGrant, ModelGrantPage } from "./schemas/custom-models.ts";
import type { EventFilter } from "./schemas/events.ts";
import type { Estimate, Layers, Prompt, PromptPage, RunTree } from "./schemas/library.ts";
import type { JsonObject, Run, RunOutput, RunPage } from "./schemas/run.ts";
import type { Balance, Usage, UsageFilter } from "./schemas/usage.ts";
import type { WebhookStore } from "./webhook-store.ts";

/** Everything a provider may be asked to do. A new word is a decision: every provider may then be asked. */
export type Task =
  | "image.generate"
  | "image.edit"
  | "image.character"
  | "image.reference"
  | "image.segment"
  | "image.remove-background"
  | "image.remove"
  | "image.reframe"
  | "image.describe"
  | "image.upscale"
  | "image.combine"
  | "image.cut"
  | "image.blend"
  | "prompt.enhance"
  | "video.generate";

/**
 * Where a picture comes from, before it is ours. `job` is what an earlier job of the same plan made: its first file, or
 * with `every` all of them, in order.
 */
export type Source = { run: string } | { url: string } | { asset: string } | { job: number; every?: true };

/** What we ask of a provider. `S` is a Source in a plan, an AssetRef once ingested, an Asset in an adapter's hand. */
export type Job<S = Source> = {
  task: Task;
  model: string;
  prompt?: string | undefined;
  negative_prompt?: string | undefined;
  images?: S[] | undefined;
  /** White is what changes, in every mask on our side of the door. */
  mask?: S | undefined;
  /** Which of the images the mask lies over; the first where nothing is said. */
  mask_over?: number | undefined;
  /** One mask for each result that is wanted, where a job makes several from one picture. */
  masks?: S[] | undefined;
  width?: number | undefined;
  height?: number | undefined;
  aspect_ratio?: string | undefined;
  seed?: number | undefined;
  /** How many results are wanted; one where it is left out. */
  count?: number | undefined;
  /** Who is asked first where several can do it; the preferred one where nothing is said. */
  routing?: Routing | undefined;
  /** What only some models know, by its wire name. Only what the caller set or the model fixes. */
  options?: JsonObject | undefined;
  /** What it cost wherever it can be done, when the run was accepted; the one who would have done it then is first. */
  prices?: AcceptedPrice[] | undefined;
};

/** An offer's terms as they were. `count` is how many results one call made, where calls are paid. */
export type AcceptedPrice = {
  provider: string;
  as: string;
  price: number | null;
  per?: "image" | "megapixel" | "second" | "call";
  count?: number;
};

export type HttpMethod = "GET" | "POST" | "PATCH" | "DELETE";
export type BodyKind = "json" | "form";

/** What an operation without a plan may ask of the house, always in the name of one caller. */
export type OperationServices = AccessServices & {
  run(runId: string): Promise<Run>;
  runs(filter: RunFilter): Promise<RunPage>;
  tree(runId: string): Promise<RunTree>;
  layers(runId: string): Promise<Layers>;
  estimate(operation: string, input: JsonObject): Promise<Estimate>;
  usage(filter: UsageFilter): Promise<Usage>;
  credit(tenantId: string, change: { amount: number; prepaid: boolean }): Promise<Balance>;
  prompts: PromptStore;
  models: ModelRegistry;
  webhooks: WebhookStore;
  cancel(runId: string): Promise<Run>;
  delete(runId: string): Promise<Run>;
  upload(file: FilePart, about: UploadOptions): Promise<Run>;
};

export type RunFilter = {
  limit: number;
  cursor?: string | undefined;
  status?: string | undefined;
  run_type?: string | undefined;
  parent_run_id?: string | undefined;
  created_after?: string | undefined;
};

type PromptContent = { name: string; text: string; model_type: string | null; tags: string[] };
export type PromptStore = {
  create(draft: PromptContent): Promise<Prompt>;
  list(filter: PromptFilter): Promise<PromptPage>;
  get(id: string, version?: number): Promise<Prompt>;
  /** Refused as a conflict where `version` is given and no longer the prompt's. */
  update(id: string, change: Partial<PromptContent>, version?: number): Promise<Prompt>;
  delete(id: string): Promise<Prompt>;
};
type PromptFilter = {
  limit: number;
  cursor?: string | undefined;
  tag?: string | undefined;
  q?: string | undefined;
};

type ModelContent = Pick<
  CustomModel,
  "name" | "model_type" | "deployment_id" | "trigger_word" | "description" | "preview_image_url" | "visibility"
>;
type Grantee = { tenant_id?: string | undefined; user_id?: string | undefined };
type Page = { limit: number; cursor?: string | undefined };
export type ModelRegistry = {
  create(draft: ModelContent): Promise<CustomModel>;
  list(filter: Page & { status: CustomModel["status"]; model_type?: string | undefined }): Promise<CustomModelPage>;
  get(modelId: string): Promise<CustomModel>;
  update(modelId: string, change: Partial<ModelContent & Pick<CustomModel, "status">>): Promise<CustomModel>;
  delete(modelId: string): Promise<CustomModel>;
  grants(modelId: string, page: Page): Promise<ModelGrantPage>;
  grant(modelId: string, to: Grantee): Promise<ModelGrant>;
  revoke(modelId: string, from: Grantee): Promise<ModelGrant>;
};

export type UploadOptions = {
  description?: string | undefined;
  parent_id?: string | undefined;
  isMask: boolean;
  metadata?: JsonObject | undefined;
  webhook_url?: string | undefined;
  webhook_secret?: string | undefined;
};

type OperationSpec<Input extends z.ZodObject> = {
  /** As clients call it: `images.edit.fluxKontext`. All other names are derived from it. */
  name: string;
  /** Other names that clients know it by; the address is the same. */
  aliases?: string[];
  summary: string;
  http: { method: HttpMethod; path: string; bodies?: BodyKind[]; status?: number };
  input: Input;
  /** Rules between fields, as data. */
  rules?: FieldRule[];
  output: z.ZodType;
  /** An input that works, for docs and tests; files are left out of it. */
  example: Partial<z.input<Input>>;
  /** Fields that still work and should no longer be sent, each with what to send instead. */
  deprecated?: Record<string, string>;
  /** Old words read as new ones, before anything is checked. */
  translateDeprecated?(raw: JsonObject): JsonObject;
  /** The answer as rows of a table, for callers that accept `text/csv`. */
  toCsvRows?(answer: JsonObject): JsonObject[];
  /** The error body in the shape that this operation's callers know. */
  renderError?(fault: PublicFault): unknown;
};

type RunOperationSpec<Input extends z.ZodObject> = {
  run_type: string;
  /** Fills in what the input implies (a model's defaults) before it is shown and planned. */
  fillDefaults?(input: z.output<Input>): z.output<Input>;
  parent?(input: z.output<Input>): string | undefined;
  /** `image`: the answer is the picture itself, waited for, unless the caller asks for JSON. */
  responseKind?: "image";
  /** A run that fails while the caller waits is answered as an error, not as a failed run. */
  failsAsError?: boolean;
  /** How long a run may take, where that is not the usual time. */
  deadlineSeconds?: number;
  /** Given fields that this model does not use: a warning each, or a refusal in strict handling. */
  unusedFields?(input: z.output<Input>, provided: JsonObject): string[];
  /** Given values that cannot be had, and what is done instead: a warning each, or a refusal in strict handling. */
  adjustments?(input: z.output<Input>, provided: JsonObject): ParameterAdjustment[];
  /** What else the caller should know: a tag that was trimmed, a reference that is missing. */
  warnings?(input: z.output<Input>, provided: JsonObject): string[];
  plan(input: z.output<Input>, provided: JsonObject): Job[];
  renderResponse(run: Run, result: RunResult): unknown;
};

/** `says` is a sentence for the caller about the field. */
export type ParameterAdjustment = { field: string; message: string };

/** What a run made beyond what the Run shape shows: every job's files in order, and results that are not files. */
export type RunResult = { jobs: RunOutput[][]; data: JsonObject | null };

type QueryOperationSpec<Input extends z.ZodObject> = {
  respond(input: z.output<Input>, services: OperationServices): Promise<unknown>;
};

/** The answer is a stream of these events, until the caller leaves; of one run that the path names, until its end. */
type StreamOperationSpec<Input extends z.ZodObject> = { events(input: z.output<Input>): EventFilter };

type Variant = { variantOf: string; fixedValues: JsonObject };

/** An operation as the machine sees it, whatever its input. */
export type Operation = Omit<OperationSpec<z.ZodObject>, "example"> & { example: JsonObject } & Partial<
    Erased<RunOperationSpec<z.ZodObject>> &
      Erased<QueryOperationSpec<z.ZodObject>> &
      Erased<StreamOperationSpec<z.ZodObject>> &
      Variant
  >;

/** Inputs have been parsed by the operation's own schema before any of its functions sees them. */
type Erased<Functions> = {
  [Name in keyof Functions]: Functions[Name] extends (input: never, ...rest: infer Rest) => infer Result
    ? (input: JsonObject, ...rest: Rest) => Result
    : Functions[Name];
};

export const defineOperation = <Input extends z.ZodObject>(
  spec: OperationSpec<Input> & (RunOperationSpec<Input> | QueryOperationSpec<Input> | StreamOperationSpec<Input>),
): Operation => spec as unknown as Operation;

/** The same address under a second name with some fields already set: one route, two words for clients. */
export const defineVariant = (of: Operation, face: { name: string; summary: string; sets: JsonObject }): Operation => ({
  ...of,
  ...face,
  variantOf: of.name,
});
