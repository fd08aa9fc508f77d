// Keys as the database has them, and when each was last used.
import type { Database } from "../db/connect.ts";
import { findHolder, type Holder, noteUse } from "../db/keys.ts";
import type { Caller } from "../db/runs.ts";
import { Fault } from "../faults.ts";
import { createMemory } from "./memory.ts";

const USE_MS = 60_000;
const MOST_KEYS = 10_000;

/** By its digest, or by its id where a token stands for it. */
export type KeyName = { digest: Buffer } | { key_id: string };

export type KeyRing = {
  /** Undefined: there is no such key, or it may not be used any more. */
  find(key: KeyName): Promise<Caller | undefined>;
  /** Asks the database again from now on. */
  forget(): void;
};

export function createKeyRing(db: Database, clock: () => number = Date.now): KeyRing {
  const holders = createMemory<Holder>(clock);
  const used = new Map<string, number>();

  const touch = (keyId: string) => {
    const last = used.get(keyId);
    if (last !== undefined && clock() - last < USE_MS) return;
    used.delete(keyId);
    used.set(keyId, clock());
    if (used.size > MOST_KEYS) used.delete(used.keys().next().value!);
    noteUse(db, keyId).catch(() => used.delete(keyId));
  };
  return {
    async find(key) {
      const name = "digest" in key ? key.digest.toString("base64") : key.key_id;
      const holder = await holders.get(name, () => findHolder(db, key));
      if (!holder || (holder.expires_at && holder.expires_at.getTime() <= clock())) return undefined;
      if (holder.is_suspended) throw new Fault("tenant_suspended");
      touch(holder.key_id);
      return callerOf(holder);
    },
    forget: holders.forget,
  };
}

const callerOf = ({ weight, tenant_limits, is_suspended: _, ...holder }: Holder): Caller => ({
  ...holder,
  tenant: { weight, limits: tenant_limits },
  token: null,
});
