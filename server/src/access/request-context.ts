// What the libraries of this room work with, in the name of one caller.
import type { Database } from "../db/connect.ts";
import type { Caller } from "../db/runs/runs.ts";
import type { AccessTokens } from "./access-tokens.ts";
import type { ApiKeyLookup } from "./api-key-lookup.ts";
import type { CursorSigner } from "./pagination.ts";

/** What is there once, for all callers. */
export type AccessDependencies = { system: Database; keys: ApiKeyLookup; minted: AccessTokens; newId(): string };

export type RequestContext = AccessDependencies & {
  /** Sees the caller's tenant and nothing else; `system` sees everything. */
  db: Database;
  caller: Caller;
  cursors: CursorSigner;
  idempotencyKey?: string | undefined;
  onReplay?: (() => void) | undefined;
};
