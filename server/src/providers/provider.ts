// The provider interface: what an adapter implements, and what it can rely on.
//
// An adapter translates between Gesso and the API of one provider. It is stateless and does one request per call: it
// never waits, retries, stores or logs. The run handles retries, failover and unknown outcomes; storage handles files.
// An adapter reports failures as Faults with a ProviderFailure (see call-provider.ts), whose kind tells whether the
// job was accepted.
import type { z } from "zod";
import type { Job, Task } from "../contract/operation.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import type { ParameterName } from "../contract/task-parameters.ts";
import type { PixelInputs, PixelOutput, PixelTask } from "../files/images/pixel-tasks.ts";
import type { Price, ReportedUsage } from "../prices/price.ts";
import type { Clock } from "../runtime/clock.ts";

/**
 * A stored image. The journal has only these fields. `made_from`: the stored files that Gesso made the image from for
 * this run, such as the video of a still.
 */
export type AssetRef = { asset_id: string; media_type: string; is_result?: boolean; made_from?: AssetRef[] };
/** A stored image in an adapter: `url` signs a URL and `bytes` reads the file, both only when called. */
export type Asset = AssetRef & { url(): Promise<string>; bytes(): Promise<Uint8Array> };

/**
 * How to resolve a submission whose response was lost.
 * `replay`: the provider accepts an idempotency key and responds to a second POST with the first job (class A).
 * `find`: the provider can look up a job by our key; the adapter implements `findJob` (class B).
 * `none`: neither; only a callback can resolve it (class C).
 * `free`: the work costs nothing and can simply be repeated (local providers).
 */
export type Recovery = "replay" | "find" | "none" | "free";

/** Usual time until the result: `quick` a few seconds, `usual` up to 30 s, `slow` minutes. */
export type Latency = "quick" | "usual" | "slow";

/**
 * `deprecated` offers work and are selected only if no other offer is available. `retired` offers are never selected;
 * they exist for jobs that were submitted before.
 */
export type Lifecycle = { state: "active" | "deprecated" | "retired"; since?: string; successor?: string };

/**
 * The limits of an upstream model. adjust-parameters.ts changes a value outside the limits to the nearest supported
 * one and adds a warning to the run; with strict handling, the request is refused. An absent limit means that none is
 * known.
 */
export type OfferLimits = {
  /** The only supported aspect ratios, such as `16:9`. */
  ratios?: readonly string[];
  /** The only supported sizes, such as `1024x1024`. */
  sizes?: readonly string[];
  /**
   * Bounds of width and height in pixels, their step, their product, and the ratio of the longer to the shorter side.
   */
  sides?: {
    least?: number;
    most?: number;
    step?: number;
    leastPixels?: number;
    mostPixels?: number;
    mostRatio?: number;
  };
  /**
   * The names of image sizes with their pixels, of models that take a name and an aspect ratio instead of a size. A job
   * with a size gets the nearest as its option `resolution`.
   */
  resolutions?: Readonly<Record<string, number>>;
  /** The only supported durations of a video, in seconds. */
  durations?: readonly number[];
  /** The range of supported durations of a video, in seconds. */
  duration?: { least: number; most: number };
  /** Maximum results per request. For more results, the run sends several requests, each with its own price. */
  count?: number;
  /** Maximum input images per request. */
  images?: number;
  /** `false`: the model does not support masks, so jobs with a mask are not sent to this offer. */
  mask?: boolean;
  /** Maximum characters of a prompt. */
  prompt?: number;
  /**
   * Maximum pixels of a source image, and of the rectangle around the masked area. A larger job is not adjusted:
   * another offer gets it.
   */
  source?: { mostPixels?: number | undefined; mostMaskedPixels?: number | undefined };
};

/**
 * `honoured`: the provider gets the value as it is, in its own terms.
 * `adapted`: some values are changed to ones that the model supports. `adapt` returns the value that is used.
 * `unsupported`: the value is removed from the job, so the adapter never sees it. With `isExcluded`, jobs with the
 * parameter are not sent to the offer at all: canServe refuses them.
 * `how` is a phrase for the reference page. A parameter can depend on another one of the job: with `notWith`, it is
 * unsupported if the job has that one, with `onlyWith` if the job lacks it.
 */
export type ParameterSupport = {
  state: "honoured" | "adapted" | "unsupported";
  how?: string | undefined;
  adapt?(value: unknown, job: Job<unknown>): unknown;
  /** The value is sent as another parameter. */
  as?: "size" | "aspect_ratio";
  isExcluded?: boolean;
  /** A job of its own does what the parameter asks for. Jobs that still have the parameter never get to the offer. */
  isSecondJob?: boolean;
  notWith?: ParameterName;
  onlyWith?: ParameterName;
};

export type OfferParameters = Readonly<Partial<Record<ParameterName, ParameterSupport>>>;

/** A statement of a provider: it does `task` for our `model` with one of its own models. */
export type Offer = {
  task: Task;
  model: string;
  /** The name of the model at the provider. Operators can change it in gesso.yaml (`as`). */
  upstreamModel: string;
  recovery: Recovery;
  /** null: the price is unknown. */
  price: Price | null;
  /** The offer with the lowest value is tried first. Default: the preference of the provider. */
  preference?: number;
  limits?: OfferLimits;
  latency?: Latency;
  lifecycle?: Lifecycle;
  /** The operator's file removed or renamed the offer. It is only there to poll jobs that were submitted before. */
  isRemoved?: boolean;
  /**
   * Failover group. If an offer certainly did not accept a job, another offer with the same value can get it. Offers
   * without a value have no failover.
   */
  equivalence?: string;
  /**
   * For providers that return the result in the response to the submission: the maximum duration of that request. The
   * lease of the attempt lasts as long. Without a value, the provider returns a job to poll.
   */
  synchronousSeconds?: number;
  /**
   * What the offer does with each parameter of its task. adjust-parameters.ts reports what it changes or removes.
   */
  parameters: OfferParameters;
  /** Builds the request body, for adapters whose models have different fields. */
  body?(job: Job<Asset>): JsonObject;
  /** Whether the offer can do this job. Without it, the offer can do all jobs of its task within `limits`. */
  supports?(job: Pick<Job<unknown>, "mask" | "images" | "options" | "source_size">): boolean;
  /** What to do if the outcome of a submission stays unknown. `resubmit` risks a second charge. Default: fail. */
  on_unknown?: "fail" | "resubmit";
};

/** A file of a request. With `pixelTask`, its bytes are converted before they are sent. */
export type PlacedFile = Pick<Asset, "media_type" | "bytes"> & { url?: Asset["url"]; pixelTask?: PixelTask };

/** How the requests of a provider name files and LoRAs. */
export type RowNotation = {
  recovery: Offer["recovery"];
  place(file: PlacedFile): unknown;
  lora?(name: unknown): unknown;
};

/** The names of an offer, as they are journalled. */
export type SelectedOffer = { provider: string; upstreamModel: string };

/**
 * A result, as a URL at the provider or as bytes. The run stores it; adapters never do. `isForeign`: the URL may be
 * anywhere else, so it is fetched by the rules for URLs of callers, without a credential.
 */
export type ProviderOutput = ({ url: string; isForeign?: true } | { bytes: Uint8Array; media_type: string }) &
  OutputMetadata;
/** What the provider reports about a result. */
export type OutputMetadata = {
  name?: string;
  score?: number;
  box?: { x: number; y: number; width: number; height: number };
  duration?: number;
  fps?: number;
};

/**
 * Identifies a job at the provider. It is stored in the database and can be read by another process after a crash, so
 * it has only strings and never a credential.
 */
export type Ticket = Record<string, string>;

/**
 * `data` is a result that is not a file, such as a description or an enhanced prompt. `raw`: the whole result as the
 * provider gave it, in which the run finds the files of an imported model. `usage`: what the provider says that the job
 * used or cost.
 */
export type JobDone = {
  state: "done";
  outputs: ProviderOutput[];
  data?: JsonObject;
  raw?: unknown;
  usage?: ReportedUsage | undefined;
};
/** `progress` is between 0 and 1. */
export type JobProgress = { state: "running"; ticket: Ticket; progress?: number } | JobDone;

/**
 * Sends one request and reads the whole response. A timeout throws like a lost connection. `isUnsentRequest` is true
 * for what it throws if certainly no byte of the request was sent.
 */
export type SendRequest = (
  url: string,
  request: { method: string; headers: Record<string, string>; body?: string | Uint8Array | FormData | undefined },
) => Promise<{ status: number; header(name: string): string | undefined; text: string }>;

/**
 * A job in the provider's own list. `key`: our key of the attempt, if the provider says it. `created_at`: ISO 8601 in
 * UTC.
 */
export type ListedJob = { ticket: Ticket; key?: string | undefined; created_at?: string | undefined };
/** `next` continues the list; absent at its end. */
export type ListedJobPage = { jobs: ListedJob[]; next?: string | undefined };

/** What the run passes to every call of an adapter. */
export type ProviderContext<Env> = {
  /** The parsed settings of the provider. */
  env: Env;
  /** Idempotency key of the attempt, unique per attempt and the same after a crash. */
  key: string;
  /** URL for the provider's callback. Absent if the provider cannot reach it. */
  callbackUrl?: string | undefined;
  /** The only way to send requests. */
  send: SendRequest;
  /** The only way to work on pixels: it runs in an isolated process. An adapter never decodes an image. */
  runPixelTask(task: PixelTask, inputs: PixelInputs): Promise<PixelOutput[]>;
  /** Whether a provider that starts processes of its own may do so without complete isolation. */
  isWeakIsolationAllowed?: boolean | undefined;
  /** Wall clock in milliseconds since 1970, for the time in signatures. */
  now(): number;
  /** Calls `work` after this time. For the limit of a request that is shorter than `timeoutSeconds`. */
  after: Clock["after"];
  /** Time after which a submission counts as lost. `send` enforces it. */
  timeoutSeconds: number;
  /** Whether providers can reach our URLs. If not, the adapter must send images as bytes and cannot get callbacks. */
  isPublicUrlReachable: boolean;
  /** In `poll`: how long the provider has been unreachable for this job. 0 if the last poll got a response. */
  unreachableSeconds: number;
  /** In `poll`: how long ago the provider accepted the job. */
  submittedSeconds: number;
};

export type CallbackRequest = { headers: Headers; body: string; query?: URLSearchParams };

/**
 * The content of a callback: which job, and whether it has ended. The run always reads the result with `poll`.
 * `outcome` is for providers whose callback may be the only report of the result: it is added to the stored ticket, so
 * that `poll` finds it there.
 */
export type CallbackStatus = { ticket: Ticket; ended: boolean; progress?: number; outcome?: Ticket };

/**
 * `message`: one line for `gesso doctor`. `missing`: upstream models that the provider does not have. `unasked`:
 * upstream models that cannot be looked up at the provider.
 */
export type ProviderProbe = { message: string; missing: string[]; unasked?: string[] };

/** A notification about the job whose ticket has `value` under `name`. */
export type JobNotification = { name: string; value: string; progress?: number; ended?: boolean };

/**
 * How an adapter listens for notifications: it opens its connections with `openWebSocket` and closes them with
 * `signal`.
 */
export type NotificationChannel = {
  onNotification(notification: JobNotification): void;
  openWebSocket(url: string, headers: Record<string, string>): WebSocket;
  clock: Pick<Clock, "after">;
  signal: AbortSignal;
};

/**
 * `isUncharged`: the provider says that it does not charge for the canceled job, for example because the job was still
 * queued. The caller of the run then gets the money back.
 */
export type JobCancellation = { isUncharged: boolean };

/** What people read before they connect a provider: its name, what it adds, and where its key comes from. */
export type ProviderProfile = { name: string; unlocks: string; keyPage?: string };

/**
 * `describe` reads what the provider publishes about a model, for the import of its schemas. Free. `isFree`:
 * its models cost nothing.
 */
export type AnyModel<Env> = {
  isFree?: true;
  /** Paths of models that come with it: they are there from the start, without an import by the operator. */
  own?: readonly string[];
  recovery(path: string): Recovery;
  describe(path: string, context: ProviderContext<Env>): Promise<unknown>;
};

/** An adapter. `Env` is the type of its settings. */
export type UpstreamPrice = { upstreamModel: string; usd: number; unit: string };

export type Provider<Env = unknown> = {
  id: string;
  /** Absent for providers without an account: those that run inside Gesso. */
  profile?: ProviderProfile;
  /** Default preference of its offers; the lowest is tried first. Cloud providers have 50, the sandbox comes last. */
  preference?: number;
  /** Schema of its settings. If a required setting is absent, the provider is disabled. This is not an error. */
  env: z.ZodType<Env>;
  offers: Offer[];
  /** For providers that run any model by the path of its name, with the model's own parameters (`model.run`). */
  anyModel?: AnyModel<Env>;
  /** For providers whose request is the input of a model: the operator can add offers as rows (offer-row.ts). */
  rowNotation?: RowNotation;
  /**
   * Origins that results may be fetched from, or `https://*.example.com` for all subdomains. Must include configured
   * base URLs.
   */
  resultOrigins(env: Env): string[];
  /** Headers for fetching results, such as a token. Sent only to the listed origins, never to wildcards. */
  resultHeaders?(env: Env): Record<string, string>;
  /** `true` for providers on the same network, which can call back even if PUBLIC_URL is private. */
  canAlwaysCallBack?: boolean;
  /** Minimum interval between polls of one job. Default: 1 s. */
  pollSeconds?: number;
  /** Limits over all processes together: concurrent jobs and submissions per minute. Operators can change them. */
  rateLimit?: { concurrent?: number; perMinute?: number };
  /** Submits the job with exactly one paid request. Returns a ticket, or the result of a synchronous provider. */
  submit(job: Job<Asset>, offer: Offer, context: ProviderContext<Env>): Promise<JobProgress>;
  /** Reads the state of a job. Idempotent. Throws a Fault if the job failed. */
  poll(ticket: Ticket, context: ProviderContext<Env>): Promise<JobProgress>;
  /** For `recovery: "find"`: finds the job that was submitted with `context.key`. Undefined if there is none. */
  findJob?(context: ProviderContext<Env>): Promise<Ticket | undefined>;
  /** One page of the jobs that the provider accepted since then. For providers whose list tells our keys. */
  listJobs?(page: { since: Date; next: string | undefined }, context: ProviderContext<Env>): Promise<ListedJobPage>;
  /** Cancels a job, if it still runs. */
  cancel?(ticket: Ticket, context: ProviderContext<Env>): Promise<JobCancellation>;
  /** Checks, with free requests only, whether the key works and which upstream models the provider has. */
  probe?(offers: Offer[], context: ProviderContext<Env>): Promise<ProviderProbe>;
  /** What models cost today, in US dollars and in the provider's own words for the unit. With free requests only. */
  readPrices?(offers: Offer[], context: ProviderContext<Env>): Promise<UpstreamPrice[]>;
  /**
   * Subscribes to the provider's own notifications, such as a WebSocket. A notification only triggers a poll. One
   * process calls it at a time; it ends with the signal and is called again if it ends earlier.
   */
  watch?(env: Env, channel: NotificationChannel): Promise<void>;
  /** Whether the jobs of an offer call back with these settings. Default: yes, if there is `parseCallback`. */
  callsBack?(env: Env, offer: Pick<Offer, "task">): boolean;
  /**
   * Parses and authenticates a callback. Returns undefined if the provider did not send it. The callback URL carries
   * our signature over the attempt, which is verified before this call. `query` has the parameters that the adapter
   * added to the URL.
   */
  parseCallback?(request: CallbackRequest, context: ProviderContext<Env>): Promise<CallbackStatus | undefined>;
};

/** A provider whose required settings are set, with its parsed settings. */
export type EnabledProvider = { provider: Provider; env: unknown };

const DEFAULT_PREFERENCE = 50;
const DEPRECATED_PENALTY = 30;

/** The effective preference; the lowest is tried first. Deprecated offers come after others, but before the sandbox. */
export const offerPreference = (provider: Provider, offer: Offer): number =>
  (offer.preference ?? provider.preference ?? DEFAULT_PREFERENCE) +
  (offer.lifecycle?.state === "deprecated" ? DEPRECATED_PENALTY : 0);

export const defineProvider = <Env>(provider: Provider<Env>): Provider => provider as unknown as Provider;
