// The one place where things are put together.
import { hkdfSync } from "node:crypto";
import { v7 } from "uuid";
import { createAccessTokens } from "./access/access-tokens.ts";
import { createApiKeyLookup } from "./access/api-key-lookup.ts";
import { createAuthenticator } from "./access/authentication.ts";
import { createIssuers } from "./access/issuers.ts";
import type { Config } from "./config.ts";
import { connectDatabase } from "./db/connect.ts";
import { createNotifier } from "./db/notifications.ts";
import { createEngineClient } from "./engine/engine-client.ts";
import { createAdmission } from "./http/admission.ts";
import { callbackPath, createCallbackSigner } from "./http/provider-callbacks.ts";
import { createDecoderPool } from "./images/decoder-pool.ts";
import { createImageDecoder } from "./images/image-decoder.ts";
import { createFetcherFromSettings } from "./outbound/create-url-fetcher.ts";
import { createStorage } from "./storage/create-storage.ts";
import "./images/allowed-formats.ts";
import { createCursorSigner } from "./library/list-runs.ts";
import { createCrashPoint } from "./observe/crash-points.ts";
import { createLogger } from "./observe/log.ts";
import { createProviderHttpClient } from "./outbound/provider-http-client.ts";
import { createCircuitBreaker } from "./runs/circuit-breaker.ts";
import { parseAllowedLoras } from "./runs/custom-models.ts";
import { parseRunTimeouts } from "./runs/run-limits.ts";
import type { Services } from "./runs/services.ts";
import { createAssetUrlSigner } from "./storage/asset-urls.ts";
import { createWebhookService } from "./webhooks/create-webhook-service.ts";
import { createWebhookPolicy } from "./webhooks/webhook-policy.ts";

/** Nobody outside reaches this machine under its own private names. */
const isPubliclyReachable = (url: string) =>
  !/^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[)/.test(new URL(url).hostname);

export function composeServices(config: Config, role: string) {
  // One secret in the settings, one key per purpose: none of them can stand in for another.
  const deriveKey = (purpose: string) => new Uint8Array(hkdfSync("sha256", config.GESSO_SECRET, "gesso", purpose, 32));
  const db = connectDatabase(config);
  const storage = createStorage(config);
  const ingress = createEngineClient(config.RESTATE_INGRESS_URL.split(","));
  const fetcher = createFetcherFromSettings(config, config.PUBLIC_URL);
  const urls = createAssetUrlSigner(deriveKey("assets"), config.PUBLIC_URL);
  const callbacks = createCallbackSigner(deriveKey("callbacks"));
  const sender = createProviderHttpClient();
  const keys = createApiKeyLookup(db);
  const minted = createAccessTokens({ secret: deriveKey("tokens"), keys, clock: Date.now });
  const issuers = createIssuers(config.OIDC_ISSUERS, { db, get: (url, init) => fetch(url, init), clock: Date.now });
  /** Whatever changes a key or a person makes both be looked up anew. */
  const invalidateCredentialCaches = () => {
    keys.forget();
    issuers.forget();
  };
  const log = createLogger(config, role);
  const { DECODERS: count, DECODER_MEGABYTES: megabytes, DECODER_SECONDS: seconds } = config;
  const decoders = createDecoderPool({ count, megabytes, seconds, log });

  const webhookService = createWebhookService(config, { db, keyFor: deriveKey, assetUrl: urls.sign, log });

  const services: Services = {
    db,
    storage,
    providers: config.providers,
    checkUrl: fetcher.checkUrl,
    fetchBytes: fetcher.fetchBytes,
    images: createImageDecoder(decoders),
    sendToProvider: sender.send,
    isReachable: config.PUBLIC_URL_IS_REACHABLE ?? isPubliclyReachable(config.PUBLIC_URL),
    assetUrl: urls.sign,
    isSigned: urls.verify,
    ownAsset: (url) => {
      const [assetId = "", signature = ""] = url.startsWith(`${config.PUBLIC_URL}/files/`)
        ? url.split("/").slice(-2)
        : [];
      return urls.verify(assetId, signature) ? assetId : undefined;
    },
    callbackUrl: (provider, id) => `${config.PUBLIC_URL}${callbackPath({ provider, ...id }, callbacks)}`,
    loraNames: parseAllowedLoras(config),
    webhooks: createWebhookPolicy(webhookService),
    circuitBreaker: createCircuitBreaker(db, { failures: config.BREAKER_FAILURES, seconds: config.BREAKER_SECONDS }),
    resolveWakeup: ingress.resolveWakeup,
    queued: createNotifier(db, "gesso_queued"),
    ended: createNotifier(db, "gesso_ended"),
    newId: () => v7(),
    slots: config.WORKER_SLOTS,
    limits: parseRunTimeouts(config),
    eventDays: config.EVENT_DAYS,
    orphanShare: config.ORPHAN_SHARE,
    crashPoint: createCrashPoint(config),
    log,
  };

  return {
    house: services,
    office: webhookService,
    ingress,
    callbacks,
    credentials: createAuthenticator({ keys, minted, issuers }),
    access: { system: db, keys: { ...keys, forget: invalidateCredentialCaches }, minted, newId: services.newId },
    admission: createAdmission(db, config),
    cursors: createCursorSigner(deriveKey("cursors"), Date.now),
    async close() {
      decoders.close();
      await Promise.all([ingress.close(), sender.close(), webhookService.httpClient.close(), db.close()]);
    },
  };
}
