// What the parts of this room work with when they work for one caller.
import type { Cursors } from "../access/pages.ts";
import type { Database } from "../db/connect.ts";
import type { Caller } from "../db/runs.ts";
import type { Office } from "./office.ts";

export type Counter = Office & {
  /** Sees the caller's tenant and nothing else. */
  db: Database;
  caller: Caller;
  cursors: Cursors;
  idempotencyKey?: string | undefined;
  onReplay?: (() => void) | undefined;
};
