// Limits connections held open by waiting requests and event streams: per tenant, per key with the
// keys made with it, and in total. Over the limit,
// a waiting request returns its open run at once and a stream is refused.
import { type Caller, limitHolders } from "../../db/access/caller.ts";

export type ConnectionLimiter = {
  /** Returns a function that releases the slot, or undefined if the limit is reached. */
  acquire(
    caller: Pick<Caller, "tenant_id" | "tenant" | "key_id" | "holder_id" | "ancestors" | "limits">,
  ): (() => void) | undefined;
};

type ConnectionLimits = { ofAll: number; ofTenant: number; limitName?: "waiters" | "streams" };

/** 0 means no limit. A limit of the tenant itself overrides `ofTenant`. */
export function createConnectionLimiter({
  ofAll,
  ofTenant,
  limitName = "waiters",
}: ConnectionLimits): ConnectionLimiter {
  const openByName = new Map<string, number>();
  const change = (name: string, by: number) => {
    const count = (openByName.get(name) ?? 0) + by;
    if (count === 0) openByName.delete(name);
    else openByName.set(name, count);
  };
  const isFull = (name: string, max: unknown) =>
    typeof max === "number" && max > 0 && (openByName.get(name) ?? 0) >= max;

  return {
    acquire(caller) {
      const { tenant_id, tenant } = caller;
      const limitsByName: [name: string, max: unknown][] = [
        ["all", ofAll],
        [tenant_id, tenant.limits[limitName] ?? ofTenant],
        ...limitHolders(caller).map(({ holder_id, limits }): [string, unknown] => [holder_id, limits[limitName]]),
      ];
      if (limitsByName.some(([name, max]) => isFull(name, max))) return undefined;
      for (const [name] of limitsByName) change(name, 1);
      return () => {
        for (const [name] of limitsByName) change(name, -1);
      };
    },
  };
}
