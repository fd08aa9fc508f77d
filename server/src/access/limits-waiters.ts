// How many callers may hold a connection open at a time: of one tenant, with one key, and of all. A connection is the one
// thing that waiting costs. Who comes on top is answered at once, as if they had not asked to wait for their run, or is
// refused a stream.
import type { Caller } from "../db/runs.ts";

export type Waiters = {
  /** Undefined: no place is free. Otherwise how to leave it again. */
  enter(caller: Pick<Caller, "tenant_id" | "tenant" | "key_id" | "limits">): (() => void) | undefined;
};

type Places = { ofAll: number; ofTenant: number; figure?: "waiters" | "streams" };

/** 0: no limit. A tenant's own figure goes before `ofTenant`. */
export function createWaiters({ ofAll, ofTenant, figure = "waiters" }: Places): Waiters {
  const waiting = new Map<string, number>();
  const change = (name: string, by: number) => {
    const count = (waiting.get(name) ?? 0) + by;
    if (count === 0) waiting.delete(name);
    else waiting.set(name, count);
  };
  const isFull = (name: string, most: unknown) =>
    typeof most === "number" && most > 0 && (waiting.get(name) ?? 0) >= most;

  return {
    enter({ tenant_id, tenant, key_id, limits }) {
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
