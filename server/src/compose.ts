// The composition root: builds every capability from the configuration, once per process.
import { resolve } from "node:path";
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
import { connectDatabase, directUrlOf } from "./db/connect.ts";
import { readInstallationFigures } from "./db/installation-figures.ts";
import { openSnapshot } from "./db/snapshot.ts";
import { createInstallationCheck } from "./doctor/check-installation.ts";
import { createEngineAdmin } from "./engine/engine-admin.ts";
import { createEngineClient } from "./engine/engine-client.ts";
import { createAdmission } from "./http/admission.ts";
import { createClientAddresses } from "./http/client-address.ts";
import { callbackPath, createCallbackSigner } from "./http/provider-callbacks.ts";
import { createDecoderPool, type DecoderPool } from "./images/decoder-pool.ts";
import { createImageDecoder } from "./images/image-decoder.ts";
import { findLibraryProblem } from "./images/library-version.ts";
import { createPixelTasks } from "./images/pixel-tasks.ts";
import { createThumbnailMaker } from "./images/thumbnail.ts";
import { createVideoFrames } from "./images/video-frames.ts";
import type { Clock } from "./kit/clock.ts";
import { systemClock } from "./kit/system-clock.ts";
import { VERSION } from "./kit/version.ts";
import { createCrashPoint } from "./observe/crash-points.ts";
import { observeInstallation } from "./observe/installation-gauges.ts";
import { createLogger } from "./observe/log.ts";
import { createMetrics, type Metrics } from "./observe/metrics.ts";
import { traceHttp, traceStorage, traceWebhookClient } from "./observe/trace-dependencies.ts";
import type { Tracing } from "./observe/tracing.ts";
import { createIpRangeMatcher, isPrivateIp } from "./outbound/ip-ranges.ts";
import { createOutboundHttp } from "./outbound/outbound-http.ts";
import { postBytes } from "./outbound/post-bytes.ts";
import { createProcessSockets } from "./outbound/process-sockets.ts";
import { trustedFetch } from "./outbound/trusted-fetch.ts";
import { trustedHttpGet } from "./outbound/trusted-http-get.ts";
import { createProvenanceService } from "./provenance/provenance-service.ts";
import { renewalGraceSeconds } from "./runs/attempt-lease.ts";
import { createByteBudget } from "./runs/byte-budget.ts";
import { createCircuitBreaker } from "./runs/circuit-breaker.ts";
import { parseAllowedLoras } from "./runs/custom-models.ts";
import { createDatabaseSteadiness } from "./runs/database-steadiness.ts";
import { createExhaustedBudgetLog } from "./runs/exhausted-budget-log.ts";
import { createFileTurns } from "./runs/file-turns.ts";
import { createInFlightAttempts } from "./runs/in-flight-attempts.ts";
import { createJobFiles } from "./runs/job-files.ts";
import { createNotifications } from "./runs/notifications.ts";
import { createProvenancePolicies } from "./runs/provenance-policy.ts";
import type { ProviderCallbacks } from "./runs/provider-context.ts";
import { createProviderRegistry } from "./runs/provider-registry.ts";
import { createResponseSpool } from "./runs/response-spool.ts";
import { parseRunSettings } from "./runs/run-settings.ts";
import type { ProcessRuntime, Services } from "./runs/services.ts";
import type { OutputDependencies } from "./runs/store-outputs.ts";
import { createSuspectRuns } from "./runs/suspect-runs.ts";
import { createWorkMarks } from "./runs/work-marks.ts";
import { createAssetStore } from "./storage/asset-store.ts";
import { createAssetUrlSigner } from "./storage/asset-urls.ts";
import { countFailures } from "./storage/count-failures.ts";
import { createStorage } from "./storage/create-storage.ts";
import { createWebhookService } from "./webhooks/create-webhook-service.ts";
import { createWebhookPolicy } from "./webhooks/webhook-policy.ts";

/** For statements that scan a whole table. Their connections are opened when they are needed. */
const SLOW_STATEMENTS = { statementMs: 30 * 60 * 1000, marginMs: 2000 };
const SLOW_POOL = { DATABASE_POOL: 2, DATABASE_POOL_MIN: 0 };

type KeyDerivation = ReturnType<typeof createKeyDerivation>;

/** Private host names and addresses cannot be reached by a provider. */
const isPubliclyReachable = (url: string) =>
  !/^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[)/.test(new URL(url).hostname);

const createRuntime = (config: Config, role: string, metrics: Metrics, tracing: Tracing): ProcessRuntime => {
  const settings = parseRunSettings(config);
  return {
    clock: systemClock,
    random: Math.random,
    ids: { next: () => v7() },
    settings,
    byteBudget: createByteBudget(settings.byteBudget),
    fileTurns: createFileTurns(settings.fileBytes),
    log: createLogger(config, role, undefined, tracing.isEnabled ? tracing.logFields : undefined),
    metrics,
    tracing,
    crashPoint: createCrashPoint(config),
  };
};

/** What `--role reseal` uses. */
export function composeSecretStore(config: Config) {
  const database = connectDatabase(config, "gesso_system", { clock: systemClock });
  const deriveKeys = createKeyDerivation(config);
  const { secretCipher, httpClient } = createWebhookService(config, deriveKeys, systemClock);
  const log = createLogger(config, "reseal", process.stderr);
  const audit = createAuditSeal({ database, keys: deriveKeys("audit"), clock: systemClock, log });
  return { database, secretCipher, audit, close: () => Promise.all([database.close(), httpClient.close()]) };
}

function composeAccess(config: Config, { database, clock, ids, provenance }: Services, deriveKeys: KeyDerivation) {
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
      canSign: provenance.canSign,
      cell: config.CELL,
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
      issuers,
      issuerIds: config.OIDC_ISSUERS.filter((issuer) => issuer.console).map(({ id }) => id),
    },
  };
}

const composeMcp = (config: Config, deriveKeys: KeyDerivation) => ({
  issuerUrls: config.OIDC_ISSUERS.map(({ issuer }) => issuer),
  confirmation: { above: config.MCP_CONFIRM_ABOVE, maxByModel: config.MCP_CONFIRM_COST_MAX },
  stateSecrets: deriveKeys("mcp-state"),
});

const toInstallation = (config: Config) => ({
  ...{ settings: config, isServer: true, missing: [], catalogue: config.catalogue },
  ...{ enabledProviders: config.providers, disabledProviders: config.disabledProviders },
});

function composeAssets(config: Config, deriveKeys: KeyDerivation, { clock, metrics, tracing }: ProcessRuntime) {
  const countFailure = (operation: string) => metrics.count("gesso.storage.failures", { operation });
  const urls = createAssetUrlSigner(deriveKeys("assets"), config.PUBLIC_URL);
  const storage = traceStorage(tracing, countFailures(createStorage(config, clock), countFailure));
  return createAssetStore(storage, urls, config.PUBLIC_URL);
}

function composeImages(config: Config, { clock, metrics, log }: ProcessRuntime) {
  const { DECODERS: count, DECODER_MEGABYTES: megabytes, DECODER_SECONDS: seconds } = config;
  const onFailure = () => metrics.count("gesso.decoder.failures", {});
  const decoders = createDecoderPool({ count, megabytes, seconds, log, onFailure, clock });
  const videoFrames = createVideoFrames({ decoders, count, megabytes, seconds, clock });
  return {
    decoders,
    images: createImageDecoder(decoders),
    videoFrames,
    thumbnails: createThumbnailMaker({ decoders, videoFrames, isEnabled: config.THUMBNAILS }),
  };
}

function composeInstallationCheck(config: Config, decoders: DecoderPool, clock: Clock) {
  const isTrustedProxy = createIpRangeMatcher(config.TRUSTED_PROXIES);
  const { find, unnamedProxy } = createClientAddresses({ isTrustedProxy, isPrivateIp });
  const findIsolation = async () => ({
    ...{ sandbox: await decoders.sandboxStatus(), profileName: await decoders.profileName() },
  });
  const installation = { ...toInstallation(config), findIsolation, findUnnamedProxy: unnamedProxy };
  return { findClientAddress: find, checkInstallation: createInstallationCheck(installation, { clock }) };
}

const composeCallbacks = (config: Config, signer: ReturnType<typeof createCallbackSigner>): ProviderCallbacks => ({
  isPublicUrlReachable: config.PUBLIC_URL_IS_REACHABLE ?? isPubliclyReachable(config.PUBLIC_URL),
  signUrl: (provider, attempt) => `${config.PUBLIC_URL}${callbackPath({ provider, ...attempt }, signer)}`,
});

function composeProvenance(config: Config, { database, clock }: Pick<Services, "database" | "clock">) {
  const limits = { megabytes: config.DECODER_MEGABYTES, seconds: config.DECODER_SECONDS };
  const provenance = createProvenanceService(config, { clock, postBytes, ...limits });
  const { defaultMode } = provenance;
  return { provenance, findProvenancePolicy: createProvenancePolicies({ database, clock, defaultMode }) };
}

const composeAdmin = (config: Config, { assets, clock, ids, log, notifications, settings, providers }: Services) => ({
  ...{ assets, clock, ids, log, notifications, providers },
  listInvocations: createEngineAdmin(config.RESTATE_ADMIN_URL).listInvocations,
  deadlineSeconds: settings.timeouts.deadlineSeconds,
  providerIds: providers.enabled.map(({ provider }) => provider.id),
});

/** The service that sends webhooks, with a span for each request of a traced run. */
function composeWebhooks(config: Config, deriveKeys: KeyDerivation, { clock, tracing }: ProcessRuntime) {
  const service = createWebhookService(config, deriveKeys, clock);
  return { ...service, httpClient: traceWebhookClient(tracing, service.httpClient) };
}

/** What stores paid results, and what tells which process owns a request. */
function composeStoring(config: Config, dependencies: OutputDependencies & ProcessRuntime) {
  const { clock, log } = dependencies;
  const sockets = createProcessSockets(resolve(config.SPOOL_DIR), dependencies);
  const suspects = createSuspectRuns({ ...dependencies, marks: createWorkMarks(config, sockets) });
  return {
    suspects,
    jobFiles: createJobFiles(dependencies, suspects),
    spool: createResponseSpool(config, dependencies),
    inFlight: createInFlightAttempts(sockets, log),
    steadiness: createDatabaseSteadiness(clock, renewalGraceSeconds(dependencies)),
  };
}

export function composeServices(config: Config, role: string, tracing: Tracing) {
  const deriveKeys = createKeyDerivation(config);
  const metricsServer = createMetrics(config, { role, version: VERSION });
  const runtime = createRuntime(config, role, metricsServer.metrics, tracing);
  const { clock, random, ids, log, settings } = runtime;
  const database = connectDatabase(config, "gesso_system", { clock });
  const slowDatabase = connectDatabase({ ...config, ...SLOW_POOL }, "gesso_system", { ...SLOW_STATEMENTS, clock });
  const engineClient = createEngineClient(config.RESTATE_INGRESS_URL);

  const assets = composeAssets(config, deriveKeys, runtime);
  const http = traceHttp(tracing, createOutboundHttp(config, config.PUBLIC_URL, clock));
  const { decoders, ...imageServices } = composeImages(config, runtime);
  const { images, thumbnails } = imageServices;
  const provenanceServices = composeProvenance(config, { database, clock });

  const callbackSigner = createCallbackSigner(deriveKeys("callbacks"));
  const callbacks = composeCallbacks(config, callbackSigner);
  const breakerPolicy = { failures: config.BREAKER_FAILURES, seconds: config.BREAKER_SECONDS };
  const circuitBreaker = createCircuitBreaker(database, breakerPolicy, clock);
  const { submitSeconds } = settings.timeouts;
  const webhookService = composeWebhooks(config, deriveKeys, runtime);

  const services: Services = {
    ...runtime,
    database,
    slowDatabase,
    openSnapshot: () => openSnapshot(directUrlOf(config), { statementMs: SLOW_STATEMENTS.statementMs }),
    assets,
    http,
    ...imageServices,
    providers: createProviderRegistry(config.providers, circuitBreaker, {
      ...{ http, callbacks, submitSeconds, clock },
      runPixelTask: createPixelTasks(decoders),
      isWeakIsolationAllowed: config.ALLOW_WEAK_ISOLATION,
    }),
    ...provenanceServices,
    ...composeStoring(config, { ...runtime, database, assets, http, images, thumbnails, ...provenanceServices }),
    notifications: createNotifications({ database, clock }, engineClient),
    webhooks: createWebhookPolicy(webhookService),
    loras: parseAllowedLoras(config),
    logExhaustedBudget: createExhaustedBudgetLog({ clock, log }),
  };

  observeProcess(services, role);
  return {
    services,
    startMetrics: metricsServer.start,
    webhookServices: { ...webhookService, database, assets, ids, clock, log, tracing },
    engineClient,
    callbackSigner,
    audit: createAuditSeal({ database, keys: deriveKeys("audit"), clock, log }),
    ...composeAccess(config, services, deriveKeys),
    admission: createAdmission({ database, clock, random }, config),
    /** How the processes that decode images are isolated. */
    sandboxStatus: decoders.sandboxStatus,
    admin: composeAdmin(config, services),
    cursors: createCursorSigner(deriveKeys("cursors"), clock),
    mcp: composeMcp(config, deriveKeys),
    ...composeInstallationCheck(config, decoders, clock),
    findImageLibraryProblem: async () => findLibraryProblem((await decoders.sandboxStatus())?.libraries),
    async close() {
      decoders.close();
      services.provenance.close();
      await Promise.all([engineClient.close(), http.close(), webhookService.httpClient.close()]);
      await Promise.all([metricsServer.close(), tracing.close()]);
      await Promise.all([database.close(), slowDatabase.close()]);
    },
  };
}

/** API processes leave the figures of the installation to the workers: they are the same in every process. */
function observeProcess({ metrics, database, providers, clock }: Services, role: string): void {
  metrics.observe(["gesso.database.pool_wait"], async () => [
    { name: "gesso.database.pool_wait", value: database.poolWaitMs() / 1000, labels: {} },
  ]);
  if (role === "api") return;
  observeInstallation(metrics, {
    read: () => readInstallationFigures(database),
    providers: providers.enabled.map(({ provider }) => provider.id),
    clock,
  });
}
