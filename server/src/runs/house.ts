// What the steps of a run work with. It is put together once, in `world.ts`, and handed down; no step reaches for
// anything else, so a test can hand it a world of its own.
import type { Database } from "../db/connect.ts";
import type { Notifier } from "../db/notify.ts";
import type { KeptSecret } from "../db/runs.ts";
import type { SecretName } from "../db/webhook-secrets.ts";
import type { FetchOptions } from "../media/fetch.ts";
import type { ImageGate } from "../media/inspect.ts";
import type { Storage } from "../media/storage.ts";
import type { Moment } from "../observe/moments.ts";
import type { Provider, Send } from "../providers/provider.ts";
import type { Health } from "./health.ts";

/** A provider that is switched on, with what it needs. */
export type LiveProvider = { provider: Provider; env: unknown };

export type Limits = {
  /** How long a submission may take; the lease outlives it by a margin. */
  submitSeconds: number;
  /** How long a lost answer's callback is waited for, where nothing else can tell. */
  unknownSeconds: number;
  /** How long after a negative look-up the job is looked up again before it is sent again. */
  lookupGraceSeconds: number;
  /** How long a run may take in all. */
  deadlineSeconds: number;
  /** How long a caller may wait for a run within one request. */
  syncSeconds: number;
};

/** The operator's word on LoRAs: these are everybody's, and perhaps all that nobody has registered. */
export type LoraNames = { names: ReadonlySet<string>; isOpen: boolean };

/** What a run may say about who is told of its end. */
export type WebhookDoor = {
  /** Throws for an address that nothing would be sent to. */
  check(url: string): void;
  seal(name: SecretName, secret: string): KeptSecret;
};

export type House = {
  db: Database;
  storage: Storage;
  providers: LiveProvider[];
  /** Throws for an address that would never be fetched. */
  checkUrl(url: string): void;
  /** Reads a picture from an address that a stranger or a provider gave us. */
  fetchBytes(url: string, options: FetchOptions): Promise<{ bytes: Uint8Array }>;
  /** Looks at pictures, in processes of their own. */
  images: ImageGate;
  /** How adapters talk to their provider; it gives up before a lease ends, so that a lease that is over means a request that is. */
  sendToProvider(url: string, request: Parameters<Send>[1] & { timeoutSeconds: number }): ReturnType<Send>;
  /** Whether providers can reach our addresses. */
  isReachable: boolean;
  assetUrl(assetId: string, mediaType: string): string;
  isSigned(assetId: string, signatureFile: string): boolean;
  /** The file behind an address of our own: it is read from storage, not fetched from ourselves. */
  ownAsset(url: string): string | undefined;
  callbackUrl(provider: string, attempt: { run_id: string; job: number; try: number }): string;
  loraNames: LoraNames;
  webhooks: WebhookDoor;
  /** Which offers are in order. */
  health: Health;
  /** Wakes a waiting run. */
  ring(wakeId: string, why: WakeReason): Promise<void>;
  /** Tells the dispatchers that something is queued. */
  queued: Notifier;
  /** Tells whoever waits that a run has ended. */
  ended: Notifier;
  newId(): string;
  /** Runs that one worker process works on at a time. */
  slots: number;
  limits: Limits;
  /** How long events are kept. */
  eventDays: number;
  /** The share of all stored objects that one sweep may delete because no row knows them. */
  orphanShare: number;
  /** Named moments of a run's life; a campaign may have the process die at one of them. */
  moment(name: Moment): void;
  log: Log;
};

export type WakeReason = "ended" | "cancel";
export type Log = {
  info(fields: object, says: string): void;
  warn(fields: object, says: string): void;
  error(fields: object, says: string): void;
};
