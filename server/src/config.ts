// Every setting there is: each room's own list, put together and read once. The only reader of the environment.
import { z } from "zod";
import { AccessEnv } from "./access/authentication.ts";
import { RateLimitEnv } from "./access/rate-limit.ts";
import { applyCatalogue } from "./catalogue/apply-catalogue.ts";
import type { CatalogueProblem } from "./catalogue/catalogue-schema.ts";
import { toIsoDate } from "./catalogue/lifecycle.ts";
import { CatalogueEnv, loadCatalogue } from "./catalogue/load-catalogue.ts";
import { DatabaseEnv } from "./db/connect.ts";
import { EngineEnv } from "./engine/engine-client.ts";
import { EventStreamsEnv } from "./events/event-streams.ts";
import { CorsEnv } from "./http/cors.ts";
import { LoadSheddingEnv } from "./http/load-shedding.ts";
import { DecoderEnv } from "./images/decoder-pool.ts";
import { CrashPointEnv } from "./observe/crash-points.ts";
import { LogEnv } from "./observe/log.ts";
import { FetchEnv } from "./outbound/fetch-settings.ts";
import { providers } from "./providers/all.ts";
import type { Provider } from "./providers/provider.ts";
import { CustomModelsEnv } from "./runs/custom-models.ts";
import { RetentionEnv } from "./runs/retention.ts";
import { RunLimitsEnv } from "./runs/run-limits.ts";
import type { EnabledProvider } from "./runs/services.ts";
import { StorageEnv } from "./storage/create-storage.ts";
import { WebhookEnv } from "./webhooks/settings.ts";

const HttpEnv = z.object({
  HOST: z.string().default("127.0.0.1").describe("Address that the API listens on"),
  PORT: z.coerce.number().int().default(7788).describe("Port that the API listens on"),
  PUBLIC_URL: z.url().default("http://127.0.0.1:7788").describe("Where callers and providers reach the API"),
  PUBLIC_URL_IS_REACHABLE: z
    .stringbool()
    .optional()
    .describe("Whether providers can reach PUBLIC_URL. Default: false for private hosts, true otherwise"),
  GESSO_SECRET: z.string().min(32).describe("Signs URLs, cursors and callbacks; at least 32 characters"),
  ...CorsEnv.shape,
  ...LoadSheddingEnv.shape,
});

export const environmentSchemas = {
  HttpEnv,
  DatabaseEnv,
  EngineEnv,
  StorageEnv,
  CatalogueEnv,
  FetchEnv,
  DecoderEnv,
  AccessEnv,
  ModelsEnv: CustomModelsEnv,
  LimitsEnv: RunLimitsEnv,
  RatesEnv: RateLimitEnv,
  RetentionEnv,
  WebhookEnv,
  StreamsEnv: EventStreamsEnv,
  LogEnv,
  MomentsEnv: CrashPointEnv,
};

const Env = z.object({
  ...HttpEnv.shape,
  ...DatabaseEnv.shape,
  ...EngineEnv.shape,
  ...StorageEnv.shape,
  ...CatalogueEnv.shape,
  ...FetchEnv.shape,
  ...DecoderEnv.shape,
  ...AccessEnv.shape,
  ...CustomModelsEnv.shape,
  ...RunLimitsEnv.shape,
  ...RateLimitEnv.shape,
  ...RetentionEnv.shape,
  ...WebhookEnv.shape,
  ...EventStreamsEnv.shape,
  ...LogEnv.shape,
  ...CrashPointEnv.shape,
});

type EnvironmentSettings = z.output<typeof Env>;
export type Config = EnvironmentSettings & { providers: EnabledProvider[] };

/** A provider that is off, and what would switch it on. `isMisconfigured`: somebody meant it to be on. */
type DisabledProvider = { provider: Provider; reason: string; isMisconfigured: boolean };

/** Everything that the environment and the operator's file say, also where it is not enough to start. */
export type ConfigurationReport = {
  settings: EnvironmentSettings | undefined;
  /** Whether anything that only the server needs is set at all. */
  isServer: boolean;
  missing: string[];
  catalogue: { path: string; exists: boolean; problems: string[] };
  enabledProviders: EnabledProvider[];
  disabledProviders: DisabledProvider[];
};

type Environment = Record<string, string | undefined>;

export function inspectConfiguration(environment: Environment = process.env): ConfigurationReport {
  // `NAME=` in a file of settings means that it is not set.
  const env = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const parsed = Env.safeParse(env);
  const { GESSO_CONFIG: path } = CatalogueEnv.parse(env);
  const {
    file,
    problems: complaints,
    formatProblems: tell,
    exists,
  } = loadCatalogue(path, env.GESSO_CONFIG !== undefined);
  const applied = applyCatalogue(providers, file, toIsoDate(new Date()));

  const live: EnabledProvider[] = [];
  const off: DisabledProvider[] = providers
    .filter(({ id }) => !applied.providers.some((each) => each.id === id))
    .map((provider) => ({ provider, reason: `switched off in ${path}`, isMisconfigured: false }));
  const missingRequirements: CatalogueProblem[] = [];
  for (const provider of applied.providers) {
    const own = provider.env.safeParse(env);
    if (own.success) {
      live.push({ provider, env: own.data });
      continue;
    }
    const lack = explainDisabledProvider(provider, own.error, env);
    off.push({ provider, ...lack });
    const requested = file.providers.find(({ id, settings }) => id === provider.id && settings.enabled === true);
    if (requested)
      missingRequirements.push({
        path: requested.path,
        message: `${provider.id} is on here, but it is off: ${lack.reason}`,
      });
  }
  return {
    settings: parsed.data,
    isServer: Object.keys({ ...DatabaseEnv.shape, GESSO_SECRET: true }).some((name) => env[name] !== undefined),
    missing: parsed.success ? [] : describeEnvironmentIssues(parsed.error, env),
    catalogue: { path, exists: exists, problems: tell([...complaints, ...applied.problems, ...missingRequirements]) },
    enabledProviders: live,
    disabledProviders: off,
  };
}

/** A sentence for each setting that is not there or is not what it must be. */
const describeEnvironmentIssues = ({ issues }: z.ZodError, env: Environment): string[] =>
  issues.map(({ path, message }) => {
    const name = path.map(String).join(".");
    return path.length === 0 ? message : `${name}${env[name] === undefined ? " is not set" : `: ${message}`}`;
  });

/** What keeps a provider off: settings that are not there, or that are not what they must be. */
function explainDisabledProvider(
  provider: Provider,
  error: z.ZodError,
  env: Environment,
): Omit<DisabledProvider, "provider"> {
  const names = error.issues.map(({ path }) => String(path[0] ?? ""));
  const wrong = error.issues.filter(({ path }) => path.length > 0 && env[String(path[0])] !== undefined);
  const missing = [...new Set(names.filter((name) => name !== "" && env[name] === undefined))];
  const needed = provider.env.safeParse({}).error?.issues.map(({ path }) => String(path[0] ?? "")) ?? [];
  const says = [
    ...(missing.length > 0 ? [`set ${missing.join(" and ")}`] : []),
    ...wrong.map(({ path, message }) => `${String(path[0])}: ${message}`),
    ...error.issues.filter(({ path }) => path.length === 0).map(({ message }) => message),
  ];
  return {
    reason: says.join("; "),
    isMisconfigured: wrong.length > 0 || needed.some((name) => name !== "" && env[name] !== undefined),
  };
}

/** Thrown for what an operator has to put right: the message is all that there is to say. */
export const isConfigurationError = (thrown: unknown): thrown is Error =>
  thrown instanceof Error && thrown.name === "Settings";

/**
 * Reads the configuration of the fetcher process. The fetcher handles untrusted URLs, so it refuses to start while its
 * environment contains a credential of any other part.
 */
export function readFetcherConfig(environment: Environment = process.env) {
  const env = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const parsed = z
    .object({ ...FetchEnv.shape, ...LogEnv.shape, PUBLIC_URL: HttpEnv.shape.PUBLIC_URL })
    .required({ FETCHER_TOKEN: true })
    .safeParse(env);
  const settings = [Env, ...providers.map((provider) => provider.env as z.ZodObject)].flatMap((each) =>
    Object.keys(each.shape),
  );
  const wrong = [
    ...(parsed.success ? [] : describeEnvironmentIssues(parsed.error, env)),
    ...[...new Set(settings)]
      .filter(
        (name) => env[name] !== undefined && name !== "FETCHER_TOKEN" && /KEY|SECRET|TOKEN|DATABASE_URL/.test(name),
      )
      .map((name) => `${name} is set: the fetcher must not have this credential`),
  ];
  if (!parsed.success || wrong.length > 0)
    throw Object.assign(new Error(["The fetcher's configuration is invalid:", ...wrong].join("\n")), {
      name: "Settings",
    });
  return Object.freeze(parsed.data);
}

export function readConfig(environment?: Environment): Config {
  const { settings, missing, catalogue, enabledProviders: live } = inspectConfiguration(environment);
  const wrong = [
    ...(settings ? [] : ["The configuration is incomplete:", ...missing]),
    ...(catalogue.problems.length > 0 ? ["The catalogue is invalid:", ...catalogue.problems] : []),
  ];
  if (!settings || wrong.length > 0) throw Object.assign(new Error(wrong.join("\n")), { name: "Settings" });
  return Object.freeze({ ...settings, providers: live });
}
