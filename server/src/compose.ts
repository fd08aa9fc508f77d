// The composition root: builds every capability from the configuration, once per process.
import { resolve } from "node:path";
import { v7 } from "uuid";
import { createApiKeyLookup } from "./access/api-key-lookup.ts";
import { createAuthenticator } from "./access/authentication.ts";
import { createCursorSigner } from "./access/cursors.ts";
import { createUnknownKeyLimit } from "./access/limits/unknown-key-limit.ts";
import { createConsoleLogin } from "./access/sign-in/console-login.ts";
import { createConsoleSessions } from "./access/sign-in/console-sessions.ts";
import { createSessionLookup } from "./access/sign-in/session-lookup.ts";
import { createSignInLimit } from "./access/sign-in/sign-in-limit.ts";
import { createAccessTokens } from "./access/tokens/access-tokens.ts";
import { createIssuers, listCliIssuers } from "./access/tokens/issuers.ts";
import { createAuditSeal } from "./db/access/audit-seal.ts";
import { createKeyDerivation } from "./db/access/derive-keys.ts";
import { connectDatabase, type Database, directUrlOf } from "./db/connect.ts";
import { readInstallationFigures } from "./db/installation-figures.ts";
import { openSnapshot } from "./db/snapshot.ts";
import { createInstallationCheck } from "./doctor/check-installation.ts";
import { checkProvider, createFreeContext, type TimedSendRequest } from "./doctor/check-provider.ts";
import { createEngineAdmin } from "./engine/engine-admin.ts";
import { createEngineClient } from "./engine/engine-client.ts";
import type { WorkerDependencies } from "./engine/worker.ts";
import { createDecoderPool, type DecoderPool } from "./files/images/decoder-pool.ts";
import { createImageDecoder } from "./files/images/image-decoder.ts";
import { findLibraryProblem } from "./files/images/library-version.ts";
import { createPixelTasks } from "./files/images/pixel-tasks.ts";
import { createThumbnailMaker } from "./files/images/thumbnail.ts";
import { createVideoFrames } from "./files/images/video-frames.ts";
import { createProvenanceService, type ProvenanceService } from "./files/provenance/provenance-service.ts";
import { createAssetStore } from "./files/storage/asset-store.ts";
import { createAssetUrlSigner } from "./files/storage/asset-urls.ts";
import { countFailures } from "./files/storage/count-failures.ts";
import { createStorage } from "./files/storage/create-storage.ts";
import { createAdmission } from "./http/admission.ts";
import { createClientAddresses } from "./http/client-address.ts";
import type { RunApiServices } from "./http/http-services.ts";
import { callbackPath, createCallbackSigner } from "./http/provider-callbacks.ts";
import type { ProviderConnections } from "./library/connect-provider.ts";
import type { ImportDependencies } from "./library/imported-models.ts";
import { createExhaustedBudgetLog } from "./money/exhausted-budget-log.ts";
import { createCrashPoint } from "./observe/crash-points.ts";
import { observeInstallation } from "./observe/installation-gauges.ts";
import { createLogger } from "./observe/log.ts";
import { createMetrics, type Metrics } from "./observe/metrics.ts";
import { traceHttp, traceStorage, traceWebhookClient } from "./observe/trace-dependencies.ts";
import type { Tracing } from "./observe/tracing.ts";
import { createIpRangeMatcher, isPrivateIp } from "./outbound/ip-ranges.ts";
import { createOutboundHttp } from "./outbound/outbound-http.ts";
import { createProcessSockets } from "./outbound/process-sockets.ts";
import { createProviderHttpClient } from "./outbound/provider-http-client.ts";
import { postBytes, trustedFetch, trustedHttpGet } from "./outbound/trusted-request.ts";
import { parseAllowedLoras } from "./runs/accept/custom-models.ts";
import { createImportedModels } from "./runs/accept/imported-models.ts";
import { renewalGraceSeconds } from "./runs/attempt/attempt-lease.ts";
import { createJobFiles } from "./runs/attempt/job-files.ts";
import { createResponseSpool } from "./runs/attempt/response-spool.ts";
import { createNotifications } from "./runs/core/notifications.ts";
import { parseRunSettings, type RunSettings } from "./runs/core/run-settings.ts";
import type { Runtime } from "./runs/core/runtime.ts";
import { createCircuitBreaker } from "./runs/offers/circuit-breaker.ts";
import type { ProviderCallbacks } from "./runs/offers/provider-context.ts";
import { createProviderRegistry } from "./runs/offers/provider-registry.ts";
import { createByteBudget } from "./runs/outputs/byte-budget.ts";
import { createProvenancePolicies } from "./runs/outputs/provenance-policy.ts";
import type { OutputDependencies } from "./runs/outputs/store-outputs.ts";
import { createDatabaseSteadiness } from "./runs/ownership/database-steadiness.ts";
import { createInFlightAttempts } from "./runs/ownership/in-flight-attempts.ts";
import { createSuspectRuns } from "./runs/ownership/suspect-runs.ts";
import { createWorkMarks } from "./runs/ownership/work-marks.ts";
import { createFileTurns } from "./runs/sources/file-turns.ts";
import type { Clock } from "./runtime/clock.ts";
import { systemClock } from "./runtime/system-clock.ts";
import { VERSION } from "./runtime/version.ts";
import type { Config } from "./settings/config.ts";
import { createWebhookPolicy } from "./webhooks/webhook-policy.ts";
import { createWebhookService } from "./webhooks/webhook-service.ts";

/** For statements that scan a whole table. Their connections are opened when they are needed. */
const SLOW_STATEMENTS = { statementMs: 30 * 60 * 1000, marginMs: 2000 };
const SLOW_POOL = { DATABASE_POOL: 2, DATABASE_POOL_MIN: 0 };

type KeyDerivation = ReturnType<typeof createKeyDerivation>;

/** Private host names and addresses cannot be reached by a provider. */
const isPubliclyReachable = (url: string) =>
  !/^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[)/.test(new URL(url).hostname);

const createRuntime = (config: Config, role: string, metrics: Metrics, tracing: Tracing): Runtime => ({
  clock: systemClock,
  random: Math.random,
  ids: { next: () => v7() },
  log: createLogger(config, role, undefined, tracing.isEnabled ? tracing.logFields : undefined),
  metrics,
  tracing,
  crashPoint: createCrashPoint(config),
});

/** What `--role reseal` uses. */
export function composeSecretStore(config: Config) {
  const database = connectDatabase(config, "gesso_system", { clock: systemClock });
  const deriveKeys = createKeyDerivation(config);
  const { secretCipher, httpClient } = createWebhookService(config, deriveKeys, systemClock);
  const log = createLogger(config, "reseal", process.stderr);
  const audit = createAuditSeal({ database, keys: deriveKeys("audit"), clock: systemClock, log });
  return { database, secretCipher, audit, close: () => Promise.all([database.close(), httpClient.close()]) };
}

function composeAccess(
  config: Config,
  {
    database,
    clock,
    ids,
    provenance,
  }: Pick<RunApiServices, "database" | "clock" | "ids"> & { provenance: Pick<ProvenanceService, "canSign"> },
  deriveKeys: KeyDerivation,
) {
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
    signIn: {
      cliIssuers: listCliIssuers(config.OIDC_ISSUERS),
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

function composeAssets(config: Config, deriveKeys: KeyDerivation, { clock, metrics, tracing }: Runtime) {
  const countFailure = (operation: string) => metrics.count("gesso.storage.failures", { operation });
  const urls = createAssetUrlSigner(deriveKeys("assets"), config.PUBLIC_URL);
  const storage = traceStorage(tracing, countFailures(createStorage(config, clock), countFailure));
  return createAssetStore(storage, urls, config.PUBLIC_URL);
}

function composeImages(config: Config, { clock, metrics, log }: Runtime) {
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

/** A client of its own, without traces: the request that checks a key has it in a header. */
async function withFreeClient<T>(clock: Clock, use: (send: TimedSendRequest) => Promise<T>): Promise<T> {
  const httpClient = createProviderHttpClient(clock);
  try {
    return await use(httpClient.send);
  } finally {
    await httpClient.close();
  }
}

const composeConnections = (config: Config, clock: Clock): ProviderConnections => ({
  file: config.DEV_CONNECT_FILE,
  configure: config.configureProvider,
  check: (enabled) => withFreeClient(clock, (send) => checkProvider(enabled, send, clock)),
});

const composeModelReader =
  (clock: Clock): ImportDependencies["describeModel"] =>
  ({ provider, env }, path) =>
    withFreeClient(clock, (send) => provider.anyModel!.describe(path, createFreeContext(env, send, clock)));

const composeCallbacks = (config: Config, signer: ReturnType<typeof createCallbackSigner>): ProviderCallbacks => ({
  isPublicUrlReachable: config.PUBLIC_URL_IS_REACHABLE ?? isPubliclyReachable(config.PUBLIC_URL),
  signUrl: (provider, attempt) => `${config.PUBLIC_URL}${callbackPath({ provider, ...attempt }, signer)}`,
});

function composeProvenance(config: Config, { database, clock }: { database: Database; clock: Clock }) {
  const limits = { megabytes: config.DECODER_MEGABYTES, seconds: config.DECODER_SECONDS };
  const provenance = createProvenanceService(config, { clock, postBytes, ...limits });
  const { defaultMode } = provenance;
  return { provenance, findProvenancePolicy: createProvenancePolicies({ database, clock, defaultMode }) };
}

/** What handlers of operations use. */
const composeQueries = <Services extends RunApiServices, Provided>(
  config: Config,
  services: Services,
  provided: Provided,
) => ({
  ...services,
  ...provided,
  listInvocations: createEngineAdmin(config.RESTATE_ADMIN_URL).listInvocations,
  deadlineSeconds: services.settings.timeouts.deadlineSeconds,
  providerIds: services.providers.enabled.map(({ provider }) => provider.id),
  connections: composeConnections(config, services.clock),
  describeModel: composeModelReader(services.clock),
});

/** The service that sends webhooks, with a span for each request of a traced run. */
function composeWebhooks(config: Config, deriveKeys: KeyDerivation, { clock, tracing }: Runtime) {
  const service = createWebhookService(config, deriveKeys, clock);
  return { ...service, httpClient: traceWebhookClient(tracing, service.httpClient) };
}

/** What stores paid results, and what tells which process owns a request. */
function composeStoring(config: Config, dependencies: OutputDependencies & Runtime & { settings: RunSettings }) {
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
  const { clock, random, ids, log } = runtime;
  const settings = parseRunSettings(config);
  const database = connectDatabase(config, "gesso_system", { clock });
  const slowDatabase = connectDatabase({ ...config, ...SLOW_POOL }, "gesso_system", { ...SLOW_STATEMENTS, clock });
  const engineClient = createEngineClient(config.RESTATE_INGRESS_URL);

  const assets = composeAssets(config, deriveKeys, runtime);
  const http = traceHttp(tracing, createOutboundHttp(config, config.PUBLIC_URL, clock));
  const { decoders, images, videoFrames, thumbnails } = composeImages(config, runtime);
  // Bounds what fetched sources and results use of the memory of this process together.
  const byteBudget = createByteBudget(settings.byteBudget);
  const files = { database, assets, http, images, thumbnails, ...composeProvenance(config, { database, clock }) };

  const callbackSigner = createCallbackSigner(deriveKeys("callbacks"));
  const callbacks = composeCallbacks(config, callbackSigner);
  const breakerPolicy = { failures: config.BREAKER_FAILURES, seconds: config.BREAKER_SECONDS };
  const providers = createProviderRegistry(config.providers, createCircuitBreaker(database, breakerPolicy, clock), {
    ...{ http, callbacks, submitSeconds: settings.timeouts.submitSeconds, clock },
    runPixelTask: createPixelTasks(decoders),
    isWeakIsolationAllowed: config.ALLOW_WEAK_ISOLATION,
  });
  const webhookService = composeWebhooks(config, deriveKeys, runtime);
  const webhookServices = { ...webhookService, database, assets, ids, clock, log, tracing };
  const notifications = createNotifications({ database, clock }, engineClient);
  const loras = parseAllowedLoras(config);
  const { findClientAddress, checkInstallation } = composeInstallationCheck(config, decoders, clock);

  const { suspects, ...storing } = composeStoring(config, { ...runtime, ...files, settings, byteBudget });
  const attempt = { ...runtime, database, providers, settings, notifications, ...storing };
  const audit = createAuditSeal({ database, keys: deriveKeys("audit"), clock, log });
  const worker: WorkerDependencies = {
    steps: {
      plan: { ...runtime, database, providers, loras },
      sources: { ...runtime, ...files, videoFrames, byteBudget },
      attempt,
    },
    duties: { ...attempt, suspects, slowDatabase, assets, http, audit },
    webhooks: webhookServices,
  };
  const api = {
    ...{ ...runtime, ...files, providers, settings, notifications, loras, checkInstallation },
    importedModels: createImportedModels(database, clock),
    fileTurns: createFileTurns(settings.fileBytes),
    webhooks: createWebhookPolicy(webhookService),
    logExhaustedBudget: createExhaustedBudgetLog({ clock, log }),
    openSnapshot: () => openSnapshot(directUrlOf(config), { statementMs: SLOW_STATEMENTS.statementMs }),
  };

  const { access, authenticator, signIn } = composeAccess(config, api, deriveKeys);
  observeProcess(api, role);
  return {
    ...{ runtime, database, assets, worker, api, webhookServices, engineClient, callbackSigner },
    startMetrics: metricsServer.start,
    signIn,
    callers: { authenticator, admission: createAdmission({ database, clock, random }, config), findClientAddress },
    /** How the processes that decode images are isolated. */
    sandboxStatus: decoders.sandboxStatus,
    queries: composeQueries(config, api, { ...webhookService, ...access }),
    cursors: createCursorSigner(deriveKeys("cursors"), clock),
    mcp: composeMcp(config, deriveKeys),
    findImageLibraryProblem: async () => findLibraryProblem((await decoders.sandboxStatus())?.libraries),
    async close() {
      decoders.close();
      api.provenance.close();
      await Promise.all([engineClient.close(), http.close(), webhookService.httpClient.close()]);
      await Promise.all([metricsServer.close(), tracing.close()]);
      await Promise.all([database.close(), slowDatabase.close()]);
    },
  };
}

/** API processes leave the figures of the installation to the workers: they are the same in every process. */
function observeProcess({ metrics, database, providers, clock }: RunApiServices, role: string): void {
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
