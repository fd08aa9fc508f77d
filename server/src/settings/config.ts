// Reads and validates all settings: the environment schemas of the modules and the operator's gesso.yaml. No other file
// reads the environment.
import { z } from "zod";
import { AccessEnv } from "../access/authentication.ts";
import { RateLimitEnv } from "../access/limits/rate-limit.ts";
import { StorageQuotaEnv } from "../access/limits/storage-quota.ts";
import { findWeakProductionSettings, isLoopbackHost } from "../access/production-secrets.ts";
import { applyCatalogue } from "../catalogue/apply-catalogue.ts";
import type { CatalogueProblem } from "../catalogue/catalogue-schema.ts";
import { suggestName } from "../catalogue/did-you-mean.ts";
import { toIsoDate } from "../catalogue/lifecycle.ts";
import { CatalogueEnv, loadCatalogue } from "../catalogue/load-catalogue.ts";
import { DatabaseEnv } from "../db/connect.ts";
import { EngineEnv } from "../engine/engine-client.ts";
import { EventStreamsEnv } from "../events/event-streams.ts";
import { DecoderEnv } from "../files/images/decoder-pool.ts";
import { findProvenanceProblems, ProvenanceEnv } from "../files/provenance/settings.ts";
import { StorageEnv } from "../files/storage/create-storage.ts";
import { BodyBudgetEnv } from "../http/bodies/body-budget.ts";
import { CorsEnv } from "../http/cors.ts";
import { LoadSheddingEnv } from "../http/load-shedding.ts";
import { McpEnv } from "../http/mcp/confirm-cost.ts";
import { type ConfiguredProvider, ConnectEnv } from "../library/connect-provider.ts";
import { CrashPointEnv } from "../observe/crash-points.ts";
import { LogEnv } from "../observe/log.ts";
import { MetricsEnv } from "../observe/metrics.ts";
import { TracingEnv } from "../observe/tracing.ts";
import { FetchEnv, ipRangeList } from "../outbound/fetch-settings.ts";
import { providers } from "../providers/all.ts";
import { offerFromRow } from "../providers/offer-row.ts";
import type { Provider } from "../providers/provider.ts";
import { CustomModelsEnv } from "../runs/accept/custom-models.ts";
import { SpoolEnv } from "../runs/attempt/response-spool.ts";
import { RetentionEnv, RunLimitsEnv } from "../runs/core/run-settings.ts";
import type { EnabledProvider } from "../runs/offers/provider-registry.ts";
import { WebhookEnv } from "../webhooks/settings.ts";
import { clearEnvironment } from "./clear-environment.ts";
import { readSettingFiles, type SettingFiles } from "./setting-files.ts";

const HttpEnv = z.object({
  HOST: z.string().default("127.0.0.1").describe("IP address that the API listens on"),
  PORT: z.coerce.number().int().default(7788).describe("Port that the API listens on"),
  PUBLIC_URL: z
    .url()
    .default("http://127.0.0.1:7788")
    .describe("Public URL of the API, for file URLs and provider callbacks"),
  PUBLIC_URL_IS_REACHABLE: z
    .stringbool()
    .optional()
    .describe("Whether providers can reach PUBLIC_URL. Default: false for private hosts, true otherwise"),
  GESSO_SECRET: z.string().min(32).describe("Secret that signs URLs, cursors and callbacks. At least 32 characters"),
  GESSO_ACCEPTED_SECRETS: z
    .string()
    .default("")
    .transform((text) => text.split(",").filter((secret) => secret !== ""))
    .refine((secrets) => secrets.every((secret) => secret.length >= 32), "every secret needs at least 32 characters")
    .describe("Other secrets whose signatures stay valid during a rotation of GESSO_SECRET, comma-separated"),
  ...CorsEnv.shape,
  CONSOLE: z
    .stringbool()
    .default(true)
    .describe("Whether the API serves the console under /console: on or off. Default: on"),
  TRUSTED_PROXIES: ipRangeList().describe(
    "IP addresses and ranges of all your own reverse proxies, comma-separated. Without them, all clients share the address " +
      "of the proxy, and so its limits. Default: none",
  ),
  ...McpEnv.shape,
  ...LoadSheddingEnv.shape,
  ...BodyBudgetEnv.shape,
});

export const environmentSchemas = {
  HttpEnv,
  DatabaseEnv,
  EngineEnv,
  StorageEnv,
  SpoolEnv,
  CatalogueEnv,
  FetchEnv,
  DecoderEnv,
  ProvenanceEnv,
  AccessEnv,
  CustomModelsEnv,
  RunLimitsEnv,
  RateLimitEnv,
  StorageQuotaEnv,
  RetentionEnv,
  WebhookEnv,
  EventStreamsEnv,
  LogEnv,
  MetricsEnv,
  TracingEnv,
  ConnectEnv,
  CrashPointEnv,
};

const Env = z
  .object({
    ...HttpEnv.shape,
    ...DatabaseEnv.shape,
    ...EngineEnv.shape,
    ...StorageEnv.shape,
    ...SpoolEnv.shape,
    ...CatalogueEnv.shape,
    ...FetchEnv.shape,
    ...DecoderEnv.shape,
    ...ProvenanceEnv.shape,
    ...AccessEnv.shape,
    ...CustomModelsEnv.shape,
    ...RunLimitsEnv.shape,
    ...RateLimitEnv.shape,
    ...StorageQuotaEnv.shape,
    ...RetentionEnv.shape,
    ...WebhookEnv.shape,
    ...EventStreamsEnv.shape,
    ...LogEnv.shape,
    ...MetricsEnv.shape,
    ...TracingEnv.shape,
    ...ConnectEnv.shape,
    ...CrashPointEnv.shape,
  })
  .superRefine(({ WORKER_HOST, RESTATE_IDENTITY_KEYS }, context) => {
    if (isLoopbackHost(WORKER_HOST) || RESTATE_IDENTITY_KEYS.length > 0) return;
    context.addIssue({
      code: "custom",
      path: ["WORKER_HOST"],
      message:
        "not a loopback address, so RESTATE_IDENTITY_KEYS is required: without them, any process that reaches the " +
        "worker can impersonate the engine. See the guide on Restate",
    });
  })
  .superRefine(({ PROVIDERS }, context) => {
    const ids = providers.map(({ id }) => id);
    for (const id of PROVIDERS.filter((each) => !ids.includes(each)))
      context.addIssue({
        code: "custom",
        path: ["PROVIDERS"],
        message: `unknown provider ${id}${suggestName(id, ids)}`,
      });
  })
  .superRefine((settings, context) => {
    for (const { name, message } of [...findWeakProductionSettings(settings), ...findProvenanceProblems(settings)])
      context.addIssue({ code: "custom", path: [name], message });
  });

type EnvironmentSettings = z.output<typeof Env>;
export type Config = EnvironmentSettings &
  Pick<ConfigurationReport, "catalogue" | "disabledProviders" | "configureProvider"> & { providers: EnabledProvider[] };

/**
 * A disabled provider and the reason. `isMisconfigured`: some of its settings are set, so it was meant to be enabled.
 */
type DisabledProvider = { provider: Provider; reason: string; isMisconfigured: boolean };

/** The configuration with all its problems, also if the server cannot start with it. */
export type ConfigurationReport = {
  settings: EnvironmentSettings | undefined;
  /** Whether a setting that only the server needs is set. */
  isServer: boolean;
  missing: string[];
  catalogue: { path: string; exists: boolean; problems: string[] };
  enabledProviders: EnabledProvider[];
  disabledProviders: DisabledProvider[];
  /** What a provider would be with further settings. Undefined if gesso.yaml disables it. */
  configureProvider(id: string, settings: Record<string, string>): ConfiguredProvider | undefined;
};

type Environment = Record<string, string | undefined>;

/** `NAME=` in an env file means that the setting is absent. `NAME_FILE` names a file with the value. */
export const readEnvironment = (environment: Environment = process.env): SettingFiles =>
  readSettingFiles(Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== "")), settingNames());

export function inspectConfiguration(environment?: Environment): ConfigurationReport {
  const { environment: env, problems: fileProblems } = readEnvironment(environment);
  const parsed = Env.safeParse(env);
  const { GESSO_CONFIG: path, PROVIDERS: named } = CatalogueEnv.parse(env);
  const { file, problems, formatProblems, exists } = loadCatalogue(path, env.GESSO_CONFIG !== undefined);
  const applied = applyCatalogue(providers, file, toIsoDate(new Date()), offerFromRow);

  const live: EnabledProvider[] = [];
  const off: DisabledProvider[] = providers
    .filter(({ id }) => !applied.providers.some((each) => each.id === id))
    .map((provider) => ({ provider, reason: `disabled in ${path}`, isMisconfigured: false }));
  const missingRequirements: CatalogueProblem[] = [];
  for (const provider of applied.providers) {
    const own = provider.env.safeParse(env);
    const isNamed = named.length === 0 || named.includes(provider.id) || needsNoSettings(provider);
    if (own.success && isNamed) {
      live.push({ provider, env: own.data });
      continue;
    }
    const lack =
      isNamed && own.error
        ? explainDisabledProvider(provider, own.error, env)
        : { reason: "not named in PROVIDERS", isMisconfigured: false };
    off.push({ provider, ...lack });
    const requested = file.providers.find(({ id, settings }) => id === provider.id && settings.enabled === true);
    if (requested) {
      const problem = isNamed ? `its settings are incomplete: ${lack.reason}` : "PROVIDERS does not name it";
      missingRequirements.push({ path: requested.path, message: `${provider.id} is enabled here, but ${problem}` });
    }
  }
  return {
    settings: fileProblems.size === 0 ? parsed.data : undefined,
    isServer: Object.keys({ ...DatabaseEnv.shape, GESSO_SECRET: true }).some((name) => env[name] !== undefined),
    missing: describeEnvironmentIssues(parsed.error, env, fileProblems),
    catalogue: {
      path,
      exists: exists,
      problems: formatProblems([...problems, ...applied.problems, ...missingRequirements]),
    },
    enabledProviders: live,
    disabledProviders: off,
    configureProvider(id, given) {
      const provider = applied.providers.find((each) => each.id === id);
      return provider && parseProvider(provider, { ...env, ...given });
    },
  };
}

function parseProvider(provider: Provider, env: Environment): ConfiguredProvider {
  const { data, error } = provider.env.safeParse(env);
  return error
    ? { invalid: error.issues.map(({ path }) => String(path[0] ?? "")) }
    : { enabled: { provider, env: data } };
}

/** One sentence per missing or invalid setting, and per file of a setting that cannot be used. */
const describeEnvironmentIssues = (
  error: z.ZodError | undefined,
  env: Environment,
  fileProblems: SettingFiles["problems"],
): string[] => [
  ...fileProblems.values(),
  ...(error?.issues ?? [])
    .filter(({ path }) => !fileProblems.has(path.map(String).join(".")))
    .map(({ path, message }) => {
      const name = path.map(String).join(".");
      return path.length === 0 ? message : `${name}${env[name] === undefined ? " is not set" : `: ${message}`}`;
    }),
];

/** Those that run on this machine: they have no required settings, and only lack files of their own. */
const needsNoSettings = ({ env }: Provider): boolean =>
  (env.safeParse({}).error?.issues ?? []).every(({ path }) => path.length === 0);

/** Why a provider is off: its missing and invalid settings. */
function explainDisabledProvider(
  provider: Provider,
  error: z.ZodError,
  env: Environment,
): Omit<DisabledProvider, "provider"> {
  const names = error.issues.map(({ path }) => String(path[0] ?? ""));
  const wrong = error.issues.filter(({ path }) => path.length > 0 && env[String(path[0])] !== undefined);
  const missing = [...new Set(names.filter((name) => name !== "" && env[name] === undefined))];
  const needed = provider.env.safeParse({}).error?.issues.map(({ path }) => String(path[0] ?? "")) ?? [];
  const reasons = [
    ...(missing.length > 0 ? [`set ${missing.join(" and ")}`] : []),
    ...wrong.map(({ path, message }) => `${String(path[0])}: ${message}`),
    ...error.issues.filter(({ path }) => path.length === 0).map(({ message }) => message),
  ];
  return {
    reason: reasons.join("; "),
    isMisconfigured: wrong.length > 0 || needed.some((name) => name !== "" && env[name] !== undefined),
  };
}

const settingNames = (): string[] =>
  [Env, ...providers.map((provider) => provider.env as z.ZodObject)].flatMap((each) => Object.keys(each.shape));

/**
 * Removes secrets from the environment after the settings are read. Variables of other libraries stay readable for this
 * process. Returns false if other processes can still read a secret.
 */
export function removeSecretsFromEnvironment(): boolean {
  const ownNames = new Set(settingNames());
  return clearEnvironment(process.env, (name) => !ownNames.has(name));
}

/** An error that the operator must fix. Its message is complete, so no stack trace is shown. */
export const isConfigurationError = (thrown: unknown): thrown is Error =>
  thrown instanceof Error && thrown.name === "Settings";

export const configurationError = (lines: string[]): Error =>
  Object.assign(new Error(lines.join("\n")), { name: "Settings" });

/**
 * Reads the configuration of the fetcher process. The fetcher handles untrusted URLs, so it refuses to start while its
 * environment contains a credential of any other part.
 */
export function readFetcherConfig(environment?: Environment) {
  const { environment: env, problems: fileProblems } = readEnvironment(environment);
  const parsed = z
    .object({ ...FetchEnv.shape, ...LogEnv.shape, PUBLIC_URL: HttpEnv.shape.PUBLIC_URL })
    .required({ FETCHER_TOKEN: true })
    .safeParse(env);
  const wrong = [
    ...describeEnvironmentIssues(parsed.error, env, fileProblems),
    ...[...new Set(settingNames())]
      .filter(
        (name) =>
          env[name] !== undefined &&
          name !== "FETCHER_TOKEN" &&
          /KEY|SECRET|TOKEN|DATABASE_URL|OIDC_ISSUERS/.test(name),
      )
      .map((name) => `${name} is set: the fetcher must not have this credential`),
  ];
  if (!parsed.success || wrong.length > 0)
    throw configurationError(["The fetcher's configuration is invalid:", ...wrong]);
  return Object.freeze(parsed.data);
}

/** Settings of a role that needs the accounts of the database and no other credential. */
const DatabaseRoleEnv = z.object({ ...DatabaseEnv.shape, CELL: AccessEnv.shape.CELL });

/** Reads the settings of `--role migrate` and `--role create-key`. */
export function readDatabaseConfig(environment?: Environment) {
  const { environment: env, problems } = readEnvironment(environment);
  const parsed = DatabaseRoleEnv.safeParse(env);
  const wrong = describeEnvironmentIssues(parsed.error, env, problems);
  if (!parsed.success || wrong.length > 0) throw configurationError(["The configuration is incomplete:", ...wrong]);
  return Object.freeze(parsed.data);
}

export function readConfig(environment?: Environment): Config {
  const { settings, missing, enabledProviders, ...rest } = inspectConfiguration(environment);
  const { catalogue, disabledProviders, configureProvider } = rest;
  const wrong = [
    ...(settings ? [] : ["The configuration is incomplete:", ...missing]),
    ...(catalogue.problems.length > 0 ? ["The catalogue is invalid:", ...catalogue.problems] : []),
  ];
  if (!settings || wrong.length > 0) throw configurationError(wrong);
  return Object.freeze({
    ...{ ...settings, providers: enabledProviders, disabledProviders, configureProvider, catalogue },
  });
}
