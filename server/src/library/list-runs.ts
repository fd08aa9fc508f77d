// Pages of runs. A cursor is ours: signed, bound to the tenant and the filters it was made for, and good for a day.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { listRunRows } from "../db/runs/list-runs.ts";
import type { Caller } from "../db/runs/runs.ts";
import { Fault } from "../faults.ts";
import type { RunFilter } from "../kit/operation.ts";
import type { RunPage } from "../kit/schemas/run.ts";
import { renderRun } from "../runs/render-run.ts";
import type { Services } from "../runs/services.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

export type CursorSigner = {
  make(scope: string, lastId: string): string;
  /** Throws invalid_cursor for anything that this signer did not make for this scope within a day. */
  read(scope: string, cursor: string): string;
};

export function createCursorSigner(secret: Uint8Array, clock: () => number): CursorSigner {
  const make = (scope: string, lastId: string, at = clock()) => {
    const body = `${lastId}.${at.toString(36)}`;
    const signature = createHmac("sha256", secret).update(`${scope} ${body}`).digest("base64url").slice(0, 22);
    return Buffer.from(`${body}.${signature}`).toString("base64url");
  };
  return {
    make,
    read(scope, cursor) {
      const [lastId = "", time = ""] = Buffer.from(cursor, "base64url").toString().split(".");
      const at = Number.parseInt(time, 36);
      // Compared as a whole text: base64 has spare bits, so other texts would decode to the same bytes.
      const [given, expected] = [Buffer.from(cursor), Buffer.from(make(scope, lastId, at))];
      const isValid = given.length === expected.length && timingSafeEqual(given, expected);
      if (!isValid || clock() - at > DAY_MS) throw new Fault("invalid_cursor");
      return lastId;
    },
  };
}

export async function listRunPage(
  services: Services,
  cursors: CursorSigner,
  caller: Caller,
  { cursor, limit, ...filter }: RunFilter,
): Promise<RunPage> {
  const scope = createHash("sha256")
    .update(JSON.stringify([caller.tenant_id, filter]))
    .digest("hex");
  const before = cursor === undefined ? undefined : cursors.read(scope, cursor);
  const rows = await listRunRows(services.db, caller.tenant_id, { ...filter, before }, limit + 1);
  const page = rows.slice(0, limit);
  return {
    data: page.map((row) => renderRun(services, row)),
    next_cursor: rows.length > limit ? cursors.make(scope, page.at(-1)!.run_id) : null,
  };
}
