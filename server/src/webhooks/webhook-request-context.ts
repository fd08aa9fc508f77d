// What the parts of this room work with when they work for one caller.
import type { CursorSigner } from "../access/pagination.ts";
import type { Database } from "../db/connect.ts";
import type { Caller } from "../db/runs/runs.ts";
import type { Office } from "./webhook-service.ts";

export type Counter = Office & {
  /** Sees the caller's tenant and nothing else. */
  db: Database;
  caller: Caller;
  cursors: CursorSigner;
  idempotencyKey?: string | undefined;
  onReplay?: (() => void) | undefined;
};
