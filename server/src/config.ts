// Every setting there is: each room's own list, put together and read once. The only reader of the environment.
import { z } from "zod";
import { AccessEnv } from "./access/credentials.ts";
import { DatabaseEnv } from "./db/connect.ts";
import { EngineEnv } from "./engine/ingress.ts";
import { FetchEnv } from "./media/fetch.ts";
import { STORAGE_ENV } from "./media/open-storage.ts";
import { LogEnv } from "./observe/log.ts";
import { MomentsEnv } from "./observe/moments.ts";
import { providers } from "./providers/all.ts";
import type { LiveProvider } from "./runs/house.ts";
import { LimitsEnv } from "./runs/limits.ts";

const HttpEnv = z.object({
  HOST: z.string().default("127.0.0.1").describe("Address that the API listens on"),
  PORT: z.coerce.number().int().default(7788).describe("Port that the API listens on"),
  PUBLIC_URL: z.url().default("http://127.0.0.1:7788").describe("Where callers and providers reach the API"),
  GESSO_SECRET: z.string().min(32).describe("Signs addresses, cursors and callbacks; at least 32 characters"),
});

export const rooms = {
  HttpEnv,
  DatabaseEnv,
  EngineEnv,
  STORAGE_ENV,
  FetchEnv,
  AccessEnv,
  LimitsEnv,
  LogEnv,
  MomentsEnv,
};

const Env = z.object({
  ...HttpEnv.shape,
  ...DatabaseEnv.shape,
  ...EngineEnv.shape,
  ...STORAGE_ENV.shape,
  ...FetchEnv.shape,
  ...AccessEnv.shape,
  ...LimitsEnv.shape,
  ...LogEnv.shape,
  ...MomentsEnv.shape,
});

export type Config = z.output<typeof Env> & { providers: LiveProvider[] };

export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const parsed = Env.safeParse(env);
  if (!parsed.success) throw new Error(`The settings are not complete:\n${z.prettifyError(parsed.error)}`);
  const live = providers.flatMap((provider) => {
    const own = provider.env.safeParse(env);
    return own.success ? [{ provider, env: own.data }] : [];
  });
  return Object.freeze({ ...parsed.data, providers: live });
}
