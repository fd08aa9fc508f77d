// How a public verb is written: as a value. What an operation asks of providers is a pure plan, so that it is the same
// today, after a crash and in a test; everything else (routes, OpenAPI, clients, docs) is read off this value.
import type { z } from "zod";
import type { PublicFault } from "../faults.ts";
import type { AccessAsk } from "./access.ts";
import type { Routing } from "./fields.ts";
import type { FilePart } from "./files.ts";
import type { Rule } from "./rules.ts";
import type { Json, Output, Run, RunPage } from "./shapes.ts";
import type { EventFilter } from "./shapes-events.ts";
import type { Estimate, Layers, Prompt, PromptPage, RunTree } from "./shapes-library.ts";
import type { Model, ModelGrant, ModelGrantPage, ModelPage } from "./shapes-models.ts";
import type { Balance, Usage, UsageFilter } from "./shapes-money.ts";
import type { WebhookLibrary } from "./webhooks.ts";

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
  options?: Json | undefined;
  /** What it cost wherever it can be done, when the run was accepted; the one who would have done it then is first. */
  prices?: FrozenPrice[] | undefined;
};

/** An offer's terms as they were. `count` is how many results one call made, where calls are paid. */
export type FrozenPrice = {
  provider: string;
  as: string;
  price: number | null;
  per?: "image" | "megapixel" | "second" | "call";
  count?: number;
};

export type Method = "GET" | "POST" | "PATCH" | "DELETE";
export type Body = "json" | "form";

/** What an operation without a plan may ask of the house, always in the name of one caller. */
export type Ask = AccessAsk & {
  run(runId: string): Promise<Run>;
  runs(filter: RunFilter): Promise<RunPage>;
  tree(runId: string): Promise<RunTree>;
  layers(runId: string): Promise<Layers>;
  estimate(operation: string, input: Json): Promise<Estimate>;
  usage(filter: UsageFilter): Promise<Usage>;
  credit(tenantId: string, change: { amount: number; prepaid: boolean }): Promise<Balance>;
  prompts: PromptLibrary;
  models: ModelRegistry;
  webhooks: WebhookLibrary;
  cancel(runId: string): Promise<Run>;
  delete(runId: string): Promise<Run>;
  upload(file: FilePart, about: UploadNotes): Promise<Run>;
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
export type PromptLibrary = {
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
  Model,
  "name" | "model_type" | "deployment_id" | "trigger_word" | "description" | "preview_image_url" | "visibility"
>;
type Grantee = { tenant_id?: string | undefined; user_id?: string | undefined };
type Page = { limit: number; cursor?: string | undefined };
export type ModelRegistry = {
  create(draft: ModelContent): Promise<Model>;
  list(filter: Page & { status: Model["status"]; model_type?: string | undefined }): Promise<ModelPage>;
  get(modelId: string): Promise<Model>;
  update(modelId: string, change: Partial<ModelContent & Pick<Model, "status">>): Promise<Model>;
  delete(modelId: string): Promise<Model>;
  grants(modelId: string, page: Page): Promise<ModelGrantPage>;
  grant(modelId: string, to: Grantee): Promise<ModelGrant>;
  revoke(modelId: string, from: Grantee): Promise<ModelGrant>;
};

export type UploadNotes = {
  description?: string | undefined;
  parent_id?: string | undefined;
  isMask: boolean;
  metadata?: Json | undefined;
  webhook_url?: string | undefined;
  webhook_secret?: string | undefined;
};

type Face<Input extends z.ZodObject> = {
  /** As clients call it: `images.edit.fluxKontext`. All other names are derived from it. */
  name: string;
  /** Other names that clients know it by; the address is the same. */
  aliases?: string[];
  summary: string;
  http: { method: Method; path: string; bodies?: Body[]; status?: number };
  input: Input;
  /** Rules between fields, as data. */
  rules?: Rule[];
  output: z.ZodType;
  /** An input that works, for docs and tests; files are left out of it. */
  example: Partial<z.input<Input>>;
  /** Fields that still work and should no longer be sent, each with what to send instead. */
  deprecated?: Record<string, string>;
  /** Old words read as new ones, before anything is checked. */
  adapt?(raw: Json): Json;
  /** The answer as rows of a table, for callers that accept `text/csv`. */
  table?(answer: Json): Json[];
  /** The error body in the shape that this operation's callers know. */
  refusal?(fault: PublicFault): unknown;
};

type RunFace<Input extends z.ZodObject> = {
  run_type: string;
  /** Fills in what the input implies (a model's defaults) before it is shown and planned. */
  settle?(input: z.output<Input>): z.output<Input>;
  parent?(input: z.output<Input>): string | undefined;
  /** `image`: the answer is the picture itself, waited for, unless the caller asks for JSON. */
  answers?: "image";
  /** A run that fails while the caller waits is answered as an error, not as a failed run. */
  failsAloud?: boolean;
  /** How long a run may take, where that is not the usual time. */
  deadlineSeconds?: number;
  /** Given fields that this model does not use: a warning each, or a refusal in strict handling. */
  unused?(input: z.output<Input>, given: Json): string[];
  /** Given values that cannot be had, and what is done instead: a warning each, or a refusal in strict handling. */
  adapted?(input: z.output<Input>, given: Json): Adapted[];
  /** What else the caller should know: a tag that was trimmed, a reference that is missing. */
  notes?(input: z.output<Input>, given: Json): string[];
  plan(input: z.output<Input>, given: Json): Job[];
  reply(run: Run, result: RunResult): unknown;
};

/** `says` is a sentence for the caller about the field. */
export type Adapted = { field: string; says: string };

/** What a run made beyond what the Run shape shows: every job's files in order, and results that are not files. */
export type RunResult = { jobs: Output[][]; data: Json | null };

type AnswerFace<Input extends z.ZodObject> = { answer(input: z.output<Input>, ask: Ask): Promise<unknown> };

/** The answer is a stream of these events, until the caller leaves; of one run that the path names, until its end. */
type StreamFace<Input extends z.ZodObject> = { events(input: z.output<Input>): EventFilter };

type Variant = { variantOf: string; sets: Json };

/** An operation as the machine sees it, whatever its input. */
export type Operation = Omit<Face<z.ZodObject>, "example"> & { example: Json } & Partial<
    Erased<RunFace<z.ZodObject>> & Erased<AnswerFace<z.ZodObject>> & Erased<StreamFace<z.ZodObject>> & Variant
  >;

/** Inputs have been parsed by the operation's own schema before any of its functions sees them. */
type Erased<Functions> = {
  [Name in keyof Functions]: Functions[Name] extends (input: never, ...rest: infer Rest) => infer Result
    ? (input: Json, ...rest: Rest) => Result
    : Functions[Name];
};

export const defineOperation = <Input extends z.ZodObject>(
  spec: Face<Input> & (RunFace<Input> | AnswerFace<Input> | StreamFace<Input>),
): Operation => spec as unknown as Operation;

/** The same address under a second name with some fields already set: one route, two words for clients. */
export const defineVariant = (of: Operation, face: { name: string; summary: string; sets: Json }): Operation => ({
  ...of,
  ...face,
  variantOf: of.name,
});
