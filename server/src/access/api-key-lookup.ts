// Keys as the database has them, and when each was last used.

import { findKeyHolder, type KeyHolder, recordKeyUse } from "../db/access/api-keys.ts";
import type { Database } from "../db/connect.ts";
import type { Caller } from "../db/runs/runs.ts";
import { Fault } from "../faults.ts";
import { createExpiringCache } from "./expiring-cache.ts";

const LAST_USED_INTERVAL_MS = 60_000;
const MOST_KEYS = 10_000;

/** By its digest, or by its id where a token stands for it. */
export type ApiKeyRef = { digest: Buffer } | { key_id: string };

export type ApiKeyLookup = {
  /** Undefined: there is no such key, or it may not be used any more. */
  find(key: ApiKeyRef): Promise<Caller | undefined>;
  /** Asks the database again from now on. */
  forget(): void;
};

export function createApiKeyLookup(db: Database, clock: () => number = Date.now): ApiKeyLookup {
  const holders = createExpiringCache<KeyHolder>(clock);
  const used = new Map<string, number>();

  const touch = (keyId: string) => {
    const last = used.get(keyId);
    if (last !== undefined && clock() - last < LAST_USED_INTERVAL_MS) return;
    used.delete(keyId);
    used.set(keyId, clock());
    if (used.size > MOST_KEYS) used.delete(used.keys().next().value!);
    recordKeyUse(db, keyId).catch(() => used.delete(keyId));
  };
  return {
    async find(key) {
      const name = "digest" in key ? key.digest.toString("base64") : key.key_id;
      const holder = await holders.get(name, () => findKeyHolder(db, key));
      if (!holder || (holder.expires_at && holder.expires_at.getTime() <= clock())) return undefined;
      if (holder.is_suspended) throw new Fault("tenant_suspended");
      touch(holder.key_id);
      return callerOf(holder);
    },
    forget: holders.forget,
  };
}

const callerOf = ({ weight, tenant_limits, is_suspended: _, ...holder }: KeyHolder): Caller => ({
  ...holder,
  tenant: { weight, limits: tenant_limits },
  token: null,
});
