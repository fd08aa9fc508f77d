// What the libraries of this room work with, in the name of one caller.
import type { Database } from "../db/connect.ts";
import type { Caller } from "../db/runs.ts";
import type { KeyRing } from "./key-ring.ts";
import type { Minted } from "./minted.ts";
import type { Cursors } from "./pages.ts";

/** What is there once, for all callers. */
export type Access = { system: Database; keys: KeyRing; minted: Minted; newId(): string };

export type Desk = Access & {
  /** Sees the caller's tenant and nothing else; `system` sees everything. */
  db: Database;
  caller: Caller;
  cursors: Cursors;
  idempotencyKey?: string | undefined;
  onReplay?: (() => void) | undefined;
};
