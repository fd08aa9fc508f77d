// Declares a public operation as data. Its plan (the jobs for providers) is a pure function, so it is the same after a
// crash, on replay and in tests. Routes, OpenAPI, clients and documentation are generated from this declaration.
import type { z } from "zod";
import type { PublicFault } from "../faults/faults.ts";
import type { Routing } from "./fields.ts";
import type { FilePath, MediaField, PinnedModel } from "./pinned-model.ts";
import type { FieldRule } from "./rules.ts";
import type { VideoFrame } from "./run-outputs.ts";
import type { EventFilter } from "./schemas/events.ts";
import type { JsonObject, Run, RunOutput } from "./schemas/run.ts";

/** The kinds of work that providers can do. */
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
  | "image.resize"
  | "image.combine"
  | "image.cut"
  | "image.blend"
  | "prompt.enhance"
  | "video.generate"
  | "model.run";

/**
 * Where an input image comes from, before it is stored. `output` is the index of the run's output. Default: 0. `frame`
 * is the still of a video. `run_id` is the run that an asset belongs to, if it is another run. `job` is the index of an
 * earlier job of the same plan: its first file, all its files in order with `every`, or one file per request with
 * `each` (see `request_count`). `as_is`: the file itself, of any medium, for a model that says what it takes.
 */
export type Source =
  | { run: string; output?: number; frame?: VideoFrame; as_is?: true }
  | { url: string; as_is?: true }
  | { asset: string; run_id?: string; as_is?: true }
  | { job: number; every?: true; each?: true };

/**
 * A unit of work for a provider. `S` is a Source in a plan, an AssetRef once sources are stored, an Asset in adapters.
 */
export type Job<S = Source> = {
  task: Task;
  model: string;
  prompt?: string | undefined;
  negative_prompt?: string | undefined;
  images?: S[] | undefined;
  /** White marks the area that changes. Adapters convert the mask to the provider's convention. */
  mask?: S | undefined;
  /** Index of the image that the mask belongs to. Default: 0. */
  mask_over?: number | undefined;
  /**
   * The mask is extended on all sides by this share of the longer side of its image, for masks of found objects whose
   * shadow is removed too.
   */
  mask_margin?: number | undefined;
  /** One mask per result, for jobs that derive several results from one image. */
  masks?: S[] | undefined;
  width?: number | undefined;
  height?: number | undefined;
  aspect_ratio?: string | undefined;
  seed?: number | undefined;
  /** Number of results. Default: 1. */
  count?: number | undefined;
  /**
   * For a job whose only image is `each` file of an earlier job: how many files are expected. The job becomes as many
   * requests. A request whose file the earlier job did not produce is left out.
   */
  request_count?: number | undefined;
  /** Which offer is tried first when several can do the job. Default: preferred. */
  routing?: Routing | undefined;
  /** Options that only some models support, by their API names. Only values that the caller sent or the model fixes. */
  options?: JsonObject | undefined;
  /**
   * Names of the parameters that Gesso filled in because the caller did not set them. If an offer does not support
   * their values, the caller gets no warning and strict handling does not refuse the request.
   */
  defaulted?: string[] | undefined;
  /** Strict handling: the job fails over only to offers that change none of its parameters. */
  is_strict?: boolean | undefined;
  /** The largest of the source images, if the sizes of all of them were known when the run was accepted. */
  source_size?: SourceSize | undefined;
  /** Of `model.run`: what the model gets, in its own terms. */
  model_run?: ModelRun | undefined;
  /** Prices of all suitable offers when the run was accepted; the offer that was selected then comes first. */
  prices?: AcceptedPrice[] | undefined;
};

/**
 * `files`: the place in `input` of each of the job's images, in their order; `input` has null there. `outputs`: where
 * the schema announces files in the result. `call_price`: what the operator says that a call costs, in US dollars.
 */
export type ModelRun = {
  input: JsonObject;
  files: FilePath[];
  outputs: MediaField[];
  version: string | null;
  call_price: number | null;
};

export type SourceSize = { width: number; height: number };

/**
 * The price of an offer for this job when the run was accepted. `price` and `per` are the one price of a result, or its
 * bound: processes of the previous version read only these. `rows` and `most`: the prices of units, and the bound,
 * where one price of a result says too little. `count`: results per call, for prices per call.
 */
export type AcceptedPrice = {
  provider: string;
  as: string;
  price: number | null;
  per?: "image" | "megapixel" | "second" | "call";
  count?: number;
  rows?: Record<string, number>;
  most?: Record<string, number>;
};

/**
 * What an operation changes beside runs and what tenants keep. `access`: credentials, members, and where results are
 * sent. `money`: balances and charges. `installation`: what all or other tenants depend on.
 */
export type Change = "access" | "money" | "installation";

/**
 * What the offers of this installation do with a model, for plans: which tasks and parameters they support, and how
 * many images they take.
 */
export type ModelFacts = {
  does(task: Task, model: string): boolean;
  uses(task: Task, model: string, parameter: string): boolean;
  mostImages(task: Task, model: string): number;
  /** The imported model that the request names, for operations with `usesImportedModel`. */
  imported?: ImportedModel | undefined;
};

/** A model as a name stands for it here. */
export type ImportedModel = PinnedModel & { call_price: number | null };

export type HttpMethod = "GET" | "POST" | "PATCH" | "DELETE";
export type BodyKind = "json" | "form";

export type OperationSpec<Input extends z.ZodObject, Output extends z.ZodType = z.ZodType> = {
  /** The name in the client, such as `images.edit.fluxKontext`. All other names are derived from it. */
  name: string;
  /** Other names in the client for the same URL. */
  aliases?: string[];
  summary: string;
  http: { method: HttpMethod; path: string; bodies?: BodyKind[]; status?: number };
  /** A session needs a recent login for it. Every operation of the operator that writes declares it. */
  changes?: Change;
  /** Takes rights away and must not wait for a login, although it changes access. */
  isUrgent?: true;
  /**
   * Returns prompts, inputs or files of any tenant to the operator. Needs `content:read` in addition, a recent login
   * in a session, and a `reason` that the audit logs of the tenant and of the operator get.
   */
  returnsContent?: true;
  input: Input;
  /** Rules between fields, as data. */
  rules?: FieldRule[];
  output: Output;
  /** A valid input for documentation and tests, without files. */
  example: Partial<z.input<Input>>;
  /** Deprecated fields, each with its successor. */
  deprecated?: Record<string, string>;
  /** Replaces deprecated fields and values by the current ones, before validation. */
  translateDeprecated?(raw: JsonObject): JsonObject;
  /** The response as rows, for requests that accept `text/csv`. */
  toCsvRows?(response: JsonObject): JsonObject[];
  /** The error body in the shape of this operation's responses. */
  renderError?(fault: PublicFault): unknown;
  /** Schema of what `renderError` returns. Default: the standard error body. */
  errorOutput?: z.ZodType;
};

type RunOperationSpec<Input extends z.ZodObject> = {
  run_type: string;
  /** The field that names the model of the run. Default: model. */
  modelField?: string;
  /** Adds the defaults of the selected model before the input is stored and planned. */
  fillDefaults?(input: z.output<Input>): z.output<Input>;
  /** The run that the caller named as the source. It becomes the parent, even if another source takes precedence. */
  parent?(input: z.output<Input>): string | undefined;
  /**
   * The image whose run becomes the parent if the caller named no run. Default: the first image of the plan. Only for
   * operations with `parent`.
   */
  parentSource?(input: z.output<Input>): Source | undefined;
  /**
   * `image`: the operation waits for the run and returns the bytes of the image, unless the caller accepts only JSON.
   */
  responseKind?: "image";
  /** If a run fails while the caller waits, the response is the error instead of the failed run. */
  failsAsError?: boolean;
  /** Deadline of the run. Default: RUN_DEADLINE_SECONDS. */
  deadlineSeconds?: number;
  /** Provided fields that the model does not use: one warning each, or an error with strict handling. */
  unusedFields?(input: z.output<Input>, provided: JsonObject, models: ModelFacts): string[];
  /** Provided values that Gesso must change: one warning each, or an error with strict handling. */
  adjustments?(input: z.output<Input>, provided: JsonObject, models: ModelFacts): ParameterAdjustment[];
  /** Further warnings, such as a trimmed tag or a missing reference. */
  warnings?(input: z.output<Input>, provided: JsonObject): string[];
  plan(input: z.output<Input>, provided: JsonObject, models: ModelFacts): Job[];
  /** The run's `result`, if it is made from the files of several jobs. Default: the data of the provider. */
  renderResult?(input: JsonObject, result: RunResult): JsonObject | null;
  /**
   * The field `model` names an imported model, whose own schema checks the field `input` when the run is accepted.
   */
  usesImportedModel?: true;
  /** Fields of the response that are in the run's `result` too. The client's finished run has them. */
  resultFields?: readonly string[];
  renderResponse(run: Run, result: RunResult): unknown;
};

/** A changed or ignored field, with a sentence for the caller. Without `used`, the value was ignored. */
export type ParameterAdjustment = { field: string; message: string; given?: unknown; used?: unknown };

/** The complete result of a run: the files of every job in order, and the result that is not a file. */
export type RunResult = { jobs: RunOutput[][]; data: JsonObject | null };

/** Creates a run of another operation: the request of an earlier run, with changes. */
type RepeatOperationSpec<Input extends z.ZodObject> = Pick<RunOperationSpec<Input>, "renderResponse"> & {
  repeatRun(input: z.output<Input>): RepeatedRequest;
};

/** `changes` is a JSON merge patch of the fields that the caller of the earlier run set. */
export type RepeatedRequest = { run_id: string; changes: JsonObject };

/** The response is a stream of these events. A stream of one run ends with the run. */
type StreamOperationSpec<Input extends z.ZodObject> = { events(input: z.output<Input>): EventFilter };

type Variant = { variantOf: string; fixedValues: JsonObject };

/** An operation with its input type erased, for code that handles all operations. */
export type Operation = Omit<OperationSpec<z.ZodObject>, "example"> & { example: JsonObject } & Partial<
    Erased<RunOperationSpec<z.ZodObject>> &
      Erased<RepeatOperationSpec<z.ZodObject>> &
      Erased<StreamOperationSpec<z.ZodObject>> &
      Variant & { handle(input: JsonObject, request: never, services: never): Promise<unknown> }
  >;

/** Safe because inputs are parsed by the operation's schema before any of its functions runs. */
type Erased<Functions> = {
  [Name in keyof Functions]: Functions[Name] extends (input: never, ...rest: infer Rest) => infer Result
    ? (input: JsonObject, ...rest: Rest) => Result
    : Functions[Name];
};

/** Declares an operation that creates a run. Its plan is pure, and so is the file that declares it. */
export const defineRun = <Input extends z.ZodObject>(
  spec: OperationSpec<Input> & (RunOperationSpec<Input> | RepeatOperationSpec<Input>),
): Operation => spec as unknown as Operation;

export const defineStream = <Input extends z.ZodObject>(
  spec: OperationSpec<Input> & StreamOperationSpec<Input>,
): Operation => spec as unknown as Operation;

/** A second client name for the URL of `original`, with some fields fixed. */
export const defineVariant = <Original extends Operation>(
  original: Original,
  variant: { name: string; summary: string; fixedValues: JsonObject },
): Original => ({
  ...original,
  ...variant,
  variantOf: original.name,
});
