// Limits connections held open by waiting requests and event streams: per tenant, per key and in total. Over the limit, a waiting
// request returns its open run at once and a stream is refused.
import type { Caller } from "../db/runs/runs.ts";

export type ConnectionLimiter = {
  /** Undefined: no place is free. Otherwise how to leave it again. */
  acquire(caller: Pick<Caller, "tenant_id" | "tenant" | "key_id" | "limits">): (() => void) | undefined;
};

type ConnectionLimits = { ofAll: number; ofTenant: number; limitName?: "waiters" | "streams" };

/** 0: no limit. A tenant's own figure goes before `ofTenant`. */
export function createConnectionLimiter({
  ofAll,
  ofTenant,
  limitName: figure = "waiters",
}: ConnectionLimits): ConnectionLimiter {
  const waiting = new Map<string, number>();
  const change = (name: string, by: number) => {
    const count = (waiting.get(name) ?? 0) + by;
    if (count === 0) waiting.delete(name);
    else waiting.set(name, count);
  };
  const isFull = (name: string, most: unknown) =>
    typeof most === "number" && most > 0 && (waiting.get(name) ?? 0) >= most;

  return {
    acquire({ tenant_id, tenant, key_id, limits }) {
      const places: [name: string, most: unknown][] = [
        ["all", ofAll],
        [tenant_id, tenant.limits[figure] ?? ofTenant],
        ...(key_id ? [[key_id, limits[figure]] as [string, unknown]] : []),
      ];
      if (places.some(([name, most]) => isFull(name, most))) return undefined;
      for (const [name] of places) change(name, 1);
      return () => {
        for (const [name] of places) change(name, -1);
      };
    },
  };
}
