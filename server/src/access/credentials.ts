// Who is calling. For now one development key stands for one tenant; what comes out of here is all that later rooms know.
import { createHash, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import type { Caller } from "../db/runs.ts";
import { Fault } from "../faults.ts";

export const AccessEnv = z.object({
  GESSO_DEV_KEY: z.string().min(20).optional().describe("The one API key of a development installation"),
});

const DEV_CALLER: Caller = { tenant_id: "00000000-0000-7000-8000-000000000001", user_id: "dev" };

const digest = (text: string) => createHash("sha256").update(text).digest();

export type Credentials = { callerOf(headers: Headers): Caller };

export function createCredentials(env: z.output<typeof AccessEnv>): Credentials {
  const known = env.GESSO_DEV_KEY === undefined ? undefined : digest(env.GESSO_DEV_KEY);
  return {
    callerOf(headers) {
      const key = readKey(headers);
      if (!known || !timingSafeEqual(digest(key), known)) throw new Fault("invalid_api_key");
      return DEV_CALLER;
    },
  };
}

function readKey(headers: Headers): string {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  const apiKey = headers.get("x-api-key") ?? undefined;
  if (bearer && apiKey && bearer !== apiKey) throw new Fault("ambiguous_credentials");
  const key = bearer ?? apiKey;
  if (!key) throw new Fault(headers.has("authorization") ? "invalid_api_key" : "authentication_required");
  return key;
}
