// The services that the steps of a run may use. They are built once in `compose.ts`; a step takes only the ones it needs,
// so a test provides only those.
import type { Database } from "../db/connect.ts";
import type { Notifier } from "../db/notifications.ts";
import type { RunWebhookSecret } from "../db/runs/runs.ts";
import type { WebhookSecretId } from "../db/webhooks/secrets.ts";
import type { ImageDecoder } from "../images/image-decoder.ts";
import type { CrashPoint } from "../observe/crash-points.ts";
import type { FetchOptions } from "../outbound/url-fetcher.ts";
import type { Provider, SendRequest } from "../providers/provider.ts";
import type { ObjectStorage } from "../storage/object-storage.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";

/** A provider that is switched on, with what it needs. */
export type EnabledProvider = { provider: Provider; env: unknown };

export type RunTimeouts = {
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
export type AllowedLoras = { names: ReadonlySet<string>; allowsUnregistered: boolean };

/** What a run may say about who is told of its end. */
export type WebhookPolicy = {
  /** Throws for an address that nothing would be sent to. */
  checkUrl(url: string): void;
  seal(name: WebhookSecretId, secret: string): RunWebhookSecret;
};

export type Services = {
  db: Database;
  storage: ObjectStorage;
  providers: EnabledProvider[];
  /** Throws for an address that would never be fetched. */
  checkUrl(url: string): void;
  /** Reads a picture from an address that a stranger or a provider gave us. */
  fetchBytes(url: string, options: FetchOptions): Promise<{ bytes: Uint8Array }>;
  /** Looks at pictures, in processes of their own. */
  images: ImageDecoder;
  /** Sends a request to a provider. It times out before the attempt lease expires, so an expired lease means that no request is in flight. */
  sendToProvider(
    url: string,
    request: Parameters<SendRequest>[1] & { timeoutSeconds: number },
  ): ReturnType<SendRequest>;
  /** Whether providers can reach our addresses. */
  isReachable: boolean;
  assetUrl(assetId: string, mediaType: string): string;
  isSigned(assetId: string, signatureFile: string): boolean;
  /** The file behind an address of our own: it is read from storage, not fetched from ourselves. */
  ownAsset(url: string): string | undefined;
  callbackUrl(provider: string, attempt: { run_id: string; job: number; try: number }): string;
  loraNames: AllowedLoras;
  webhooks: WebhookPolicy;
  /** Which offers are in order. */
  circuitBreaker: CircuitBreaker;
  /** Wakes a waiting run. */
  resolveWakeup(wakeId: string, reason: WakeupReason): Promise<void>;
  /** Tells the dispatchers that something is queued. */
  queued: Notifier;
  /** Tells whoever waits that a run has ended. */
  ended: Notifier;
  newId(): string;
  /** Runs that one worker process works on at a time. */
  slots: number;
  limits: RunTimeouts;
  /** How long events are kept. */
  eventDays: number;
  /** The share of all stored objects that one sweep may delete because no row knows them. */
  orphanShare: number;
  /** Named moments of a run's life; a campaign may have the process die at one of them. */
  crashPoint(name: CrashPoint): void;
  log: Logger;
};

export type WakeupReason = "ended" | "cancel";
export type Logger = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};
