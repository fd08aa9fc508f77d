// Limits concurrent file downloads per client address. Each download holds a connection to the storage until the client
// has read it, so that one slow client must not hold them all.
import type { Context } from "hono";
import { Fault } from "../../faults/faults.ts";
import type { FindClientAddress } from "../client-address.ts";
import type { HttpBindings } from "../read-request.ts";

const RETRY_SECONDS = 2;

/** Throws rate_limited if the client has too many downloads open. Releases its slot when the response ends. */
export type LimitDownloads = (context: Context<HttpBindings>) => void;

/** `max` 0: no limit. */
export function createDownloadLimit(findClientAddress: FindClientAddress, max: number): LimitDownloads {
  const open = new Map<string, number>();
  return ({ env }) => {
    if (max === 0) return;
    const address = findClientAddress(env.incoming);
    const count = open.get(address) ?? 0;
    if (count >= max) throw new Fault("rate_limited", { policy: "downloads", retry_after: RETRY_SECONDS });
    open.set(address, count + 1);
    env.outgoing.once("close", () => {
      const left = open.get(address)! - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  };
}
