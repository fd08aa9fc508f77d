// The composition root: builds every capability from the configuration, once per process.
import { v7 } from "uuid";
import { createAccessTokens } from "./access/access-tokens.ts";
import { createApiKeyLookup } from "./access/api-key-lookup.ts";
import { createAuthenticator } from "./access/authentication.ts";
import { createConsoleLogin } from "./access/console-login.ts";
import { createConsoleSessions } from "./access/console-sessions.ts";
import { createCursorSigner } from "./access/cursors.ts";
import { createIssuers, listCliIssuers } from "./access/issuers.ts";
import { createSessionLookup } from "./access/session-lookup.ts";
import { createSignInLimit } from "./access/sign-in-limit.ts";
import { createUnknownKeyLimit } from "./access/unknown-key-limit.ts";
import type { Config } from "./config.ts";
import { createAuditSeal } from "./db/access/audit-seal.ts";
import { createKeyDerivation } from "./db/access/derive-keys.ts";
import { connectDatabase } from "./db/connect.ts";
import { openSnapshot } from "./db/snapshot.ts";
import { createInstallationCheck } from "./doctor/check-installation.ts";
import { createEngineClient } from "./engine/engine-client.ts";
import { createAdmission } from "./http/admission.ts";
import { createClientAddressFinder } from "./http/client-address.ts";
import { callbackPath, createCallbackSigner } from "./http/provider-callbacks.ts";
import { createDecoderPool } from "./images/decoder-pool.ts";
import { createImageDecoder } from "./images/image-decoder.ts";
import { findLibraryProblem } from "./images/library-version.ts";
import { createPixelTasks } from "./images/pixel-tasks.ts";
import { createThumbnailMaker } from "./images/thumbnail.ts";
import { createVideoFrames } from "./images/video-frames.ts";
import type { Clock } from "./kit/clock.ts";
import { createCrashPoint } from "./observe/crash-points.ts";
import { createLogger } from "./observe/log.ts";
import { createIpRangeMatcher } from "./outbound/ip-ranges.ts";
import { createOutboundHttp } from "./outbound/outbound-http.ts";
import { trustedFetch } from "./outbound/trusted-fetch.ts";
import { trustedHttpGet } from "./outbound/trusted-http-get.ts";
import { createCircuitBreaker } from "./runs/circuit-breaker.ts";
import { parseAllowedLoras } from "./runs/custom-models.ts";
import { createExhaustedBudgetLog } from "./runs/exhausted-budget-log.ts";
import { createJobFiles } from "./runs/job-files.ts";
import { createNotifications } from "./runs/notifications.ts";
import type { ProviderCallbacks } from "./runs/provider-context.ts";
import { createProviderRegistry } from "./runs/provider-registry.ts";
import { createResponseSpool } from "./runs/response-spool.ts";
import { parseRunSettings } from "./runs/run-settings.ts";
import type { ProcessRuntime, Services } from "./runs/services.ts";
import { createAssetStore } from "./storage/asset-store.ts";
import { createAssetUrlSigner } from "./storage/asset-urls.ts";
import { createStorage } from "./storage/create-storage.ts";
import { createWebhookService } from "./webhooks/create-webhook-service.ts";
import { createWebhookPolicy } from "./webhooks/webhook-policy.ts";

/** For statements that scan a whole table. Their connections are opened when they are needed. */
const SLOW_STATEMENTS = { statementMs: 30 * 60 * 1000, marginMs: 2000 };

const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

type KeyDerivation = ReturnType<typeof createKeyDerivation>;

/** Private host names and addresses cannot be reached by a provider. */
const isPubliclyReachable = (url: string) =>
  !/^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[)/.test(new URL(url).hostname);

const createRuntime = (config: Config, role: string): ProcessRuntime => ({
  clock: systemClock,
  random: Math.random,
  ids: { next: () => v7() },
  settings: parseRunSettings(config),
  log: createLogger(config, role),
  crashPoint: createCrashPoint(config),
});

/** What `--role reseal` uses. */
export function composeSecretStore(config: Config) {
  const database = connectDatabase(config);
  const deriveKeys = createKeyDerivation(config);
  const { secretCipher, httpClient } = createWebhookService(config, deriveKeys);
  const log = createLogger(config, "reseal", process.stderr);
  const audit = createAuditSeal({ database, keys: deriveKeys("audit"), clock: systemClock, log });
  return { database, secretCipher, audit, close: () => Promise.all([database.close(), httpClient.close()]) };
}

function composeAccess(config: Config, { database, clock, ids }: Services, deriveKeys: KeyDerivation) {
  const keys = createApiKeyLookup(database, clock);
  const accessTokens = createAccessTokens({ secrets: deriveKeys("tokens"), keys, clock });
  const issuers = createIssuers(config.OIDC_ISSUERS, { database, get: trustedHttpGet, clock });
  const unknownKeys = createUnknownKeyLimit(config.ADDRESS_UNKNOWN_KEYS_PER_MINUTE, clock);
  const lookup = createSessionLookup({ database, keys, issuers, unknownKeys, clock });
  const invalidateCredentials = () => {
    keys.invalidate();
    issuers.invalidate();
    lookup.invalidate();
  };
  const loginSecrets = deriveKeys("console-login");
  return {
    authenticator: createAuthenticator({ keys, accessTokens, issuers, unknownKeys }),
    access: {
      ...{ systemDatabase: database, accessTokens, ids, clock, invalidateCredentials },
      publicUrl: config.PUBLIC_URL,
    },
    cliIssuers: listCliIssuers(config.OIDC_ISSUERS),
    console: {
      sessions: createConsoleSessions({ database, lookup, keys, clock, ids }),
      login: createConsoleLogin({
        ...{ issuers, secrets: loginSecrets, send: trustedFetch, clock },
        publicUrl: config.PUBLIC_URL,
      }),
      signInLimit: createSignInLimit(clock),
      issuerIds: config.OIDC_ISSUERS.filter((issuer) => issuer.console).map(({ id }) => id),
    },
  };
}

const composeMcp = (config: Config, deriveKeys: KeyDerivation) => ({
  issuerUrls: config.OIDC_ISSUERS.map(({ issuer }) => issuer),
  confirmAbove: config.MCP_CONFIRM_ABOVE,
  stateSecrets: deriveKeys("mcp-state"),
});

const toInstallation = (config: Config) => ({
  ...{ settings: config, isServer: true, missing: [], catalogue: config.catalogue },
  ...{ enabledProviders: config.providers, disabledProviders: config.disabledProviders },
});

export function composeServices(config: Config, role: string) {
  const deriveKeys = createKeyDerivation(config);
  const runtime = createRuntime(config, role);
  const { clock, random, ids, log, crashPoint, settings } = runtime;
  const database = connectDatabase(config);
  const slowDatabase = connectDatabase({ ...config, DATABASE_POOL: 2 }, "gesso_system", SLOW_STATEMENTS);
  const engineClient = createEngineClient(config.RESTATE_INGRESS_URL.split(","));

  const urls = createAssetUrlSigner(deriveKeys("assets"), config.PUBLIC_URL);
  const assets = createAssetStore(createStorage(config), urls, config.PUBLIC_URL);
  const http = createOutboundHttp(config, config.PUBLIC_URL);
  const { DECODERS: count, DECODER_MEGABYTES: megabytes, DECODER_SECONDS: seconds } = config;
  const decoders = createDecoderPool({ count, megabytes, seconds, log });
  const images = createImageDecoder(decoders);
  const videoFrames = createVideoFrames({ decoders, count, megabytes, seconds });
  const thumbnails = createThumbnailMaker({ decoders, videoFrames, isEnabled: config.THUMBNAILS });

  const callbackSigner = createCallbackSigner(deriveKeys("callbacks"));
  const callbacks: ProviderCallbacks = {
    isPublicUrlReachable: config.PUBLIC_URL_IS_REACHABLE ?? isPubliclyReachable(config.PUBLIC_URL),
    signUrl: (provider, attempt) => `${config.PUBLIC_URL}${callbackPath({ provider, ...attempt }, callbackSigner)}`,
  };
  const breakerPolicy = { failures: config.BREAKER_FAILURES, seconds: config.BREAKER_SECONDS };
  const circuitBreaker = createCircuitBreaker(database, breakerPolicy, clock);
  const { submitSeconds } = settings.timeouts;
  const webhookService = createWebhookService(config, deriveKeys);

  const services: Services = {
    ...runtime,
    database,
    slowDatabase,
    openSnapshot: () => openSnapshot(config.DATABASE_URL, { statementMs: SLOW_STATEMENTS.statementMs }),
    assets,
    http,
    images,
    videoFrames,
    thumbnails,
    providers: createProviderRegistry(config.providers, circuitBreaker, {
      ...{ http, callbacks, submitSeconds, clock },
      runPixelTask: createPixelTasks(decoders),
      isWeakIsolationAllowed: config.ALLOW_WEAK_ISOLATION,
    }),
    jobFiles: createJobFiles({ database, assets, http, images, thumbnails, crashPoint, log }),
    spool: createResponseSpool(config, ids),
    notifications: createNotifications(database, engineClient),
    webhooks: createWebhookPolicy(webhookService),
    loras: parseAllowedLoras(config),
    logExhaustedBudget: createExhaustedBudgetLog({ clock, log }),
  };

  return {
    services,
    webhookServices: { ...webhookService, database, assets, ids, clock, log },
    engineClient,
    callbackSigner,
    audit: createAuditSeal({ database, keys: deriveKeys("audit"), clock, log }),
    ...composeAccess(config, services, deriveKeys),
    admission: createAdmission({ database, clock, random }, config),
    /** How the processes that decode images are isolated. */
    sandboxStatus: decoders.sandboxStatus,
    findClientAddress: createClientAddressFinder(createIpRangeMatcher(config.TRUSTED_PROXIES)),
    cursors: createCursorSigner(deriveKeys("cursors"), clock),
    mcp: composeMcp(config, deriveKeys),
    checkInstallation: createInstallationCheck(toInstallation(config), { clock }),
    findImageLibraryProblem: async () => findLibraryProblem((await decoders.sandboxStatus())?.libraries),
    async close() {
      decoders.close();
      await Promise.all([engineClient.close(), http.close(), webhookService.httpClient.close()]);
      await Promise.all([database.close(), slowDatabase.close()]);
    },
  };
}
