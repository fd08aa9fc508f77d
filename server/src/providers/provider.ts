// The one door between us and the makers of models. An adapter translates; it never waits, retries, stores or logs:
// waiting and doubt belong to the run, keeping belongs to storage.
import type { z } from "zod";
import type { Job, Task } from "../kit/operation.ts";
import type { Json } from "../kit/shapes.ts";

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

/** A provider's word that it does `task` with our `model`; `body` is what this one model wants besides. */
export type Offer = {
  task: Task;
  model: string;
  /** The provider's own name for it. A default: operators may bind another. */
  as: string;
  recovery: Recovery;
  /** US dollars per image; null where the price is not known. */
  price: number | null;
  /** Which list the price is from, where it is not the first. */
  price_version?: string;
  /** Wire names of the fields this model uses beside prompt, images and mask; others bring a warning. */
  takes?: readonly string[];
  body?(job: Job<Asset>): Json;
  /** Jobs that this offer can do, where it cannot do all of its task. */
  when?(job: Pick<Job<unknown>, "mask">): boolean;
  /** `resubmit` lets an operator pay twice rather than fail a run whose submission is in doubt. */
  on_unknown?: "fail" | "resubmit";
};

/** A result, still at the provider's address or in hand. Keeping it is the server's work, never an adapter's. */
export type Output = ({ url: string } | { bytes: Uint8Array; media_type: string }) & About;
/** What the provider says about a result. */
export type About = {
  name?: string;
  score?: number;
  box?: { x: number; y: number; width: number; height: number };
  duration?: number;
  fps?: number;
};

/** JSON only: it is stored, and may be read by another process after a crash. */
export type Ticket = Record<string, string>;

/** `data` is a result that is not a file: a description, an enhanced prompt. */
export type Done = { state: "done"; outputs: Output[]; data?: Json };
export type Progress = { state: "running"; ticket: Ticket; progress?: number } | Done;

/** One request and its whole answer. Ended by time, it throws like a lost connection. */
export type Send = (
  url: string,
  request: { method: string; headers: Record<string, string>; body?: string | Uint8Array | FormData | undefined },
) => Promise<{ status: number; header(name: string): string | undefined; text: string }>;

/** What an adapter has in its hands. `key` names this job on both sides; `send` goes nowhere but to the provider. */
export type Context<Env> = {
  env: Env;
  key: string;
  callbackUrl?: string | undefined;
  send: Send;
  /** After this a submission counts as lost; `send` keeps to it by itself. */
  timeoutSeconds: number;
};

/** What a callback says: which job, and whether it has ended. The truth is always read with `check`. */
export type CallbackWord = { ticket: Ticket; ended: boolean; progress?: number };

export type Provider<Env = unknown> = {
  id: string;
  /** Where several offer the same, the lowest is asked first. Vendors stand at 50, the sandbox behind all. */
  preference?: number;
  /** What it needs from the environment. Where that is missing the provider is off, which is no error. */
  env: z.ZodType<Env>;
  offers: Offer[];
  /** Where its results may be fetched from. */
  resultOrigins(env: Env): string[];
  /** Sends the job once. Never waits and never sends twice. */
  submit(job: Job<Asset>, offer: Offer, context: Context<Env>): Promise<Progress>;
  /** Reads how the job stands. Safe to call twice. A job that ended badly is thrown as a Fault. */
  check(ticket: Ticket, context: Context<Env>): Promise<Progress>;
  /** After a submit whose answer was lost: did the provider take the job named `key`? */
  find?(context: Context<Env>): Promise<Ticket | undefined>;
  cancel?(ticket: Ticket, context: Context<Env>): Promise<void>;
  /** Reads a callback, or refuses it by answering nothing when it is not the provider's own. */
  callback?(request: { headers: Headers; body: string }, context: Context<Env>): Promise<CallbackWord | undefined>;
};

export const defineProvider = <Env>(provider: Provider<Env>): Provider => provider as unknown as Provider;
