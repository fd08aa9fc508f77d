// The provider interface. An adapter translates between Gesso and one provider's API. It never waits, retries, stores
// or logs: retries and unknown outcomes are handled by the run, files by storage.
import type { z } from "zod";
import type { Job, Task } from "../kit/operation.ts";
import type { JsonObject } from "../kit/schemas/run.ts";

/** A picture in our storage. This much is journalled; an address is signed, or bytes are read, only when used. */
export type AssetRef = { asset_id: string; media_type: string };
export type Asset = AssetRef & { url(): Promise<string>; bytes(): Promise<Uint8Array> };

/**
 * What can be done about a submission whose answer was lost.
 * `replay`: the provider takes our key and answers a second POST with the first job (class A).
 * `find`: the provider can be asked for a job by our key (class B).
 * `none`: neither; only its callback can tell (class C).
 * `free`: the work costs nothing and may simply be done again (our own machine).
 */
export type Recovery = "replay" | "find" | "none" | "free";

/** What a price is for. */
export type PriceBasis = "image" | "megapixel" | "second" | "call";

/** How long a result usually takes: a few seconds, up to half a minute, minutes. */
export type Latency = "quick" | "usual" | "slow";

/** `deprecated` still works and is not chosen where another is; `retired` is never tried. */
export type Lifecycle = { state: "active" | "deprecated" | "retired"; since?: string; successor?: string };

/**
 * What a model can take. A value outside is brought to the nearest that is inside, with a line in the run's warnings,
 * or refused where the caller asked for strict handling; `fit.ts` does both. Left out means no limit that we know.
 */
export type OfferLimits = {
  /** The only shapes it makes. */
  ratios?: readonly string[];
  /**
   * The only sizes it makes, as `1024x1024`; or sides within bounds, in whole steps, the longer at most so many times
   * the shorter.
   */
  sizes?: readonly string[];
  sides?: {
    least?: number;
    most?: number;
    step?: number;
    leastPixels?: number;
    mostPixels?: number;
    mostRatio?: number;
  };
  /** Seconds of video: the only values, or the first and last of a range. */
  durations?: readonly number[];
  duration?: { least: number; most: number };
  /** Results that one request can ask for. More are asked for in several requests, each paid and kept alone. */
  count?: number;
  /** Source pictures that one request can carry. */
  images?: number;
  /** Whether a mask can be given; where it cannot, jobs with a mask go elsewhere. */
  mask?: boolean;
  /** Characters of a prompt. */
  prompt?: number;
};

/** A provider's word that it does `task` with our `model`; `body` is what this one model wants besides. */
export type Offer = {
  task: Task;
  model: string;
  /** The provider's own name for it. A default: operators may bind another. */
  upstreamModel: string;
  recovery: Recovery;
  /** US dollars for one of `per`; null where the price is not known. */
  price: number | null;
  /** An image, where nothing is said. */
  per?: PriceBasis;
  /** Which list the price is from, where it is not the first. */
  price_version?: string;
  /** Where several offer the same, the lowest is asked first; its provider's where nothing is said. */
  preference?: number;
  limits?: OfferLimits;
  latency?: Latency;
  lifecycle?: Lifecycle;
  /**
   * Failover group. If an offer certainly did not accept a job, another offer with the same value may get it. Offers
   * without a value have no failover.
   */
  equivalence?: string;
  /**
   * The provider has no job to ask about: its answer to the one request is the result. This is how long that may take;
   * the lease and the request wait as long.
   */
  synchronousSeconds?: number;
  /**
   * Wire names of the options this model uses beside prompt, images, mask, shape, seed and count; others bring a
   * warning.
   */
  supportedOptions?: readonly string[];
  body?(job: Job<Asset>): JsonObject;
  /** Jobs that this offer can do, where it cannot do all of its task. */
  supports?(job: Pick<Job<unknown>, "mask" | "images" | "options">): boolean;
  /** `resubmit` lets an operator pay twice rather than fail a run whose submission is in doubt. */
  on_unknown?: "fail" | "resubmit";
};

/** An offer by its names, as it is journalled. */
export type SelectedOffer = { provider: string; upstreamModel: string };

/** A result, still at the provider's address or in hand. Keeping it is the server's work, never an adapter's. */
export type ProviderOutput = ({ url: string } | { bytes: Uint8Array; media_type: string }) & OutputMetadata;
/** What the provider says about a result. */
export type OutputMetadata = {
  name?: string;
  score?: number;
  box?: { x: number; y: number; width: number; height: number };
  duration?: number;
  fps?: number;
};

/** JSON only: it is stored, and may be read by another process after a crash. It never holds a credential. */
export type Ticket = Record<string, string>;

/** `data` is a result that is not a file: a description, an enhanced prompt. */
export type JobDone = { state: "done"; outputs: ProviderOutput[]; data?: JsonObject };
/** `progress` runs from 0 to 1. */
export type JobProgress = { state: "running"; ticket: Ticket; progress?: number } | JobDone;

/** One request and its whole answer. Ended by time, it throws like a lost connection. */
export type SendRequest = (
  url: string,
  request: { method: string; headers: Record<string, string>; body?: string | Uint8Array | FormData | undefined },
) => Promise<{ status: number; header(name: string): string | undefined; text: string }>;

/** What an adapter has in its hands. `key` names this job on both sides; `send` goes nowhere but to the provider. */
export type ProviderContext<Env> = {
  env: Env;
  key: string;
  /** Not there where the provider could not reach it. */
  callbackUrl?: string | undefined;
  send: SendRequest;
  /** After this a submission counts as lost; `send` keeps to it by itself. */
  timeoutSeconds: number;
  /**
   * Whether strangers can reach our addresses; where they cannot, pictures must travel as bytes and nobody calls back.
   */
  isPublicUrlReachable: boolean;
  /** In `check`: how long the provider has not been reachable for this job; 0 where it answered last time. */
  unreachableSeconds: number;
};

export type CallbackRequest = { headers: Headers; body: string; query?: URLSearchParams };

/** What a callback says: which job, and whether it has ended. The truth is always read with `check`. */
export type CallbackStatus = { ticket: Ticket; ended: boolean; progress?: number };

/**
 * `missing` are upstream names that the provider does not know (any more); `unasked` those it cannot be asked about.
 */
export type ProviderProbe = { message: string; missing: string[]; unasked?: string[] };

/** News of the job whose ticket has this value under `name`. */
export type JobNotification = { name: string; value: string; progress?: number; ended?: boolean };

export type Provider<Env = unknown> = {
  id: string;
  /** Where several offer the same, the lowest is asked first. Vendors stand at 50, the sandbox behind all. */
  preference?: number;
  /** What it needs from the environment. Where that is missing the provider is off, which is no error. */
  env: z.ZodType<Env>;
  offers: Offer[];
  /**
   * Where its results may be fetched from: origins, or `https://*.example.com` for every host below a domain. What is
   * configured (a base address that is not the vendor's) belongs in here too.
   */
  resultOrigins(env: Env): string[];
  /**
   * What its files want besides an address, a token for instance. Sent to the configured origins alone, never to
   * wildcards.
   */
  resultHeaders?(env: Env): Record<string, string>;
  /** It runs beside us and reaches us wherever we are: it may always call back. */
  canAlwaysCallBack?: boolean;
  /** How often it may be asked about one job, at most; every second where nothing is said. */
  pollSeconds?: number;
  /** How much of it may be used at a time by all our processes together; operators may set other figures. */
  rateLimit?: { concurrent?: number; perMinute?: number };
  /** Sends the job once. Never waits and never sends twice. */
  submit(job: Job<Asset>, offer: Offer, context: ProviderContext<Env>): Promise<JobProgress>;
  /** Reads how the job stands. Safe to call twice. A job that ended badly is thrown as a Fault. */
  poll(ticket: Ticket, context: ProviderContext<Env>): Promise<JobProgress>;
  /** After a submit whose answer was lost: did the provider take the job named `key`? */
  findJob?(context: ProviderContext<Env>): Promise<Ticket | undefined>;
  cancel?(ticket: Ticket, context: ProviderContext<Env>): Promise<void>;
  /** Asks, with calls that cost nothing, whether the key works and which of our upstream names it still knows. */
  probe?(offers: Offer[], context: ProviderContext<Env>): Promise<ProviderProbe>;
  /**
   * Listens to the provider's own news of its jobs, where it has a line for that. What is heard is only a reason to
   * look. Called by one process at a time; ends when the signal does, and may be called again after it ended by
   * itself.
   */
  watch?(env: Env, onNotification: (news: JobNotification) => void, signal: AbortSignal): Promise<void>;
  /**
   * Reads a callback, or refuses it by answering nothing when it is not the provider's own. The address itself is
   * proved before this is asked: it carries a signature of ours over the attempt. `query` is what the adapter itself
   * added to the address when it gave it away.
   */
  parseCallback?(request: CallbackRequest, context: ProviderContext<Env>): Promise<CallbackStatus | undefined>;
};

const DEFAULT_PREFERENCE = 50;
const DEPRECATED_PENALTY = 30;

/** Who is asked first: the lowest. What is on its way out comes after other vendors, but before the sandbox. */
export const offerPreference = (provider: Provider, offer: Offer): number =>
  (offer.preference ?? provider.preference ?? DEFAULT_PREFERENCE) +
  (offer.lifecycle?.state === "deprecated" ? DEPRECATED_PENALTY : 0);

export const defineProvider = <Env>(provider: Provider<Env>): Provider => provider as unknown as Provider;
