// Every setting there is: each room's own list, put together and read once. The only reader of the environment.
import { z } from "zod";
import { AccessEnv } from "./access/credentials.ts";
import { RatesEnv } from "./access/limits.ts";
import { applyCatalogue } from "./catalogue/apply.ts";
import type { Complaint } from "./catalogue/file.ts";
import { dayOf } from "./catalogue/lifecycle.ts";
import { CatalogueEnv, openCatalogue } from "./catalogue/open.ts";
import { DatabaseEnv } from "./db/connect.ts";
import { EngineEnv } from "./engine/ingress.ts";
import { StreamsEnv } from "./events/streams.ts";
import { CorsEnv } from "./http/cors.ts";
import { PressureEnv } from "./http/pressure.ts";
import { DecoderEnv } from "./media/decoders.ts";
import { FetchEnv } from "./media/fetch-settings.ts";
import { STORAGE_ENV } from "./media/open-storage.ts";
import { LogEnv } from "./observe/log.ts";
import { MomentsEnv } from "./observe/moments.ts";
import { providers } from "./providers/all.ts";
import type { Provider } from "./providers/provider.ts";
import { ModelsEnv } from "./runs/custom-models.ts";
import type { LiveProvider } from "./runs/house.ts";
import { LimitsEnv } from "./runs/limits.ts";
import { RetentionEnv } from "./runs/retention.ts";
import { WebhookEnv } from "./webhooks/settings.ts";

const HttpEnv = z.object({
  HOST: z.string().default("127.0.0.1").describe("Address that the API listens on"),
  PORT: z.coerce.number().int().default(7788).describe("Port that the API listens on"),
  PUBLIC_URL: z.url().default("http://127.0.0.1:7788").describe("Where callers and providers reach the API"),
  PUBLIC_URL_IS_REACHABLE: z
    .stringbool()
    .optional()
    .describe("Whether providers can reach PUBLIC_URL; judged by its host where nothing is said"),
  GESSO_SECRET: z.string().min(32).describe("Signs addresses, cursors and callbacks; at least 32 characters"),
  ...CorsEnv.shape,
  ...PressureEnv.shape,
});

export const rooms = {
  HttpEnv,
  DatabaseEnv,
  EngineEnv,
  STORAGE_ENV,
  CatalogueEnv,
  FetchEnv,
  DecoderEnv,
  AccessEnv,
  ModelsEnv,
  LimitsEnv,
  RatesEnv,
  RetentionEnv,
  WebhookEnv,
  StreamsEnv,
  LogEnv,
  MomentsEnv,
};

const Env = z.object({
  ...HttpEnv.shape,
  ...DatabaseEnv.shape,
  ...EngineEnv.shape,
  ...STORAGE_ENV.shape,
  ...CatalogueEnv.shape,
  ...FetchEnv.shape,
  ...DecoderEnv.shape,
  ...AccessEnv.shape,
  ...ModelsEnv.shape,
  ...LimitsEnv.shape,
  ...RatesEnv.shape,
  ...RetentionEnv.shape,
  ...WebhookEnv.shape,
  ...StreamsEnv.shape,
  ...LogEnv.shape,
  ...MomentsEnv.shape,
});

type Settings = z.output<typeof Env>;
export type Config = Settings & { providers: LiveProvider[] };

/** A provider that is off, and what would switch it on. `isBroken`: somebody meant it to be on. */
type Off = { provider: Provider; says: string; isBroken: boolean };

/** Everything that the environment and the operator's file say, also where it is not enough to start. */
export type Findings = {
  settings: Settings | undefined;
  /** Whether anything that only the server needs is set at all. */
  isServer: boolean;
  missing: string[];
  catalogue: { path: string; isThere: boolean; complaints: string[] };
  live: LiveProvider[];
  off: Off[];
};

type Environment = Record<string, string | undefined>;

export function readFindings(environment: Environment = process.env): Findings {
  // `NAME=` in a file of settings means that it is not set.
  const env = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const parsed = Env.safeParse(env);
  const { GESSO_CONFIG: path } = CatalogueEnv.parse(env);
  const { file, complaints, tell, isThere } = openCatalogue(path, env.GESSO_CONFIG !== undefined);
  const applied = applyCatalogue(providers, file, dayOf(new Date()));

  const live: LiveProvider[] = [];
  const off: Off[] = providers
    .filter(({ id }) => !applied.providers.some((each) => each.id === id))
    .map((provider) => ({ provider, says: `switched off in ${path}`, isBroken: false }));
  const unmet: Complaint[] = [];
  for (const provider of applied.providers) {
    const own = provider.env.safeParse(env);
    if (own.success) {
      live.push({ provider, env: own.data });
      continue;
    }
    const lack = lackOf(provider, own.error, env);
    off.push({ provider, ...lack });
    const asked = file.providers.find(({ id, settings }) => id === provider.id && settings.enabled === true);
    if (asked) unmet.push({ path: asked.path, says: `${provider.id} is on here, but it is off: ${lack.says}` });
  }
  return {
    settings: parsed.data,
    isServer: Object.keys({ ...DatabaseEnv.shape, GESSO_SECRET: true }).some((name) => env[name] !== undefined),
    missing: parsed.success ? [] : complaintsOf(parsed.error, env),
    catalogue: { path, isThere, complaints: tell([...complaints, ...applied.complaints, ...unmet]) },
    live,
    off,
  };
}

/** A sentence for each setting that is not there or is not what it must be. */
const complaintsOf = ({ issues }: z.ZodError, env: Environment): string[] =>
  issues.map(({ path, message }) => {
    const name = path.map(String).join(".");
    return path.length === 0 ? message : `${name}${env[name] === undefined ? " is not set" : `: ${message}`}`;
  });

/** What keeps a provider off: settings that are not there, or that are not what they must be. */
function lackOf(provider: Provider, error: z.ZodError, env: Environment): Omit<Off, "provider"> {
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
    says: says.join("; "),
    isBroken: wrong.length > 0 || needed.some((name) => name !== "" && env[name] !== undefined),
  };
}

/** Thrown for what an operator has to put right: the message is all that there is to say. */
export const isSettingsError = (thrown: unknown): thrown is Error =>
  thrown instanceof Error && thrown.name === "Settings";

/**
 * The fetcher's own process is told how to fetch and nothing else. It does not start where its environment holds what
 * somebody who broke into it could use elsewhere.
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
    ...(parsed.success ? [] : complaintsOf(parsed.error, env)),
    ...[...new Set(settings)]
      .filter(
        (name) => env[name] !== undefined && name !== "FETCHER_TOKEN" && /KEY|SECRET|TOKEN|DATABASE_URL/.test(name),
      )
      .map((name) => `${name} is set: the fetcher must not hold it`),
  ];
  if (!parsed.success || wrong.length > 0)
    throw Object.assign(new Error(["The fetcher's settings are not right:", ...wrong].join("\n")), {
      name: "Settings",
    });
  return Object.freeze(parsed.data);
}

export function readConfig(environment?: Environment): Config {
  const { settings, missing, catalogue, live } = readFindings(environment);
  const wrong = [
    ...(settings ? [] : ["The settings are not complete:", ...missing]),
    ...(catalogue.complaints.length > 0 ? ["The catalogue is not right:", ...catalogue.complaints] : []),
  ];
  if (!settings || wrong.length > 0) throw Object.assign(new Error(wrong.join("\n")), { name: "Settings" });
  return Object.freeze({ ...settings, providers: live });
}
