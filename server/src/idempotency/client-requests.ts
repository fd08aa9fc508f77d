// Joins requests that clients re-send without an idempotency key: a request that says it is a retry, or whose earlier
// response was never delivered, gets the key of the earlier one, and so its run. Two equal requests that were both
// answered are two runs.
import { createHash } from "node:crypto";
import type { Caller } from "../db/access/caller.ts";
import { endClientRequest, insertClientRequest } from "../db/client-requests.ts";
import type { Database } from "../db/connect.ts";
import type { Clock, Ids } from "../runtime/clock.ts";
import { findFirstKeyId, type IdempotencyCaller } from "./caller-id.ts";
import { canonicalJson } from "./fingerprint.ts";

export type ClientRequest = {
  caller: Pick<Caller, "tenant_id"> & IdempotencyCaller;
  /** The API that the client speaks. Equal requests of two APIs are not repetitions of each other. */
  api: "openai" | "mcp";
  /** All that identifies the request: its path, fields and the digests of its files. */
  content: unknown;
  /** The client says that it sent the same request before. */
  isRetry: boolean;
};

export type JoinedRequest = {
  idempotencyKey: string;
  isJoined: boolean;
  /** Says whether the response was written completely, or the connection closed before. */
  end(outcome: "answered" | "lost"): Promise<void>;
};

export type ClientRequests = { join(request: ClientRequest): Promise<JoinedRequest> };

export type ClientRequestDependencies = {
  database: Database;
  clock: Pick<Clock, "sleep">;
  ids: Ids;
  /** The advisory lock that this process holds as long as it lives. */
  holder: number;
  /** How long to wait for news of an equal request that is open. */
  graceMs?: number;
};

/**
 * A client may re-send its request before this server, or another one, has noticed that the connection is closed. So a
 * request that equals an open one waits this long, and looks again.
 */
const GRACE_MS = 250;

export function createClientRequests(dependencies: ClientRequestDependencies): ClientRequests {
  const { clock, ids, holder, graceMs = GRACE_MS } = dependencies;
  return {
    async join({ caller, api, content, isRetry }) {
      const database = dependencies.database.forTenant(caller.tenant_id);
      const requestId = ids.next();
      const ownKey = `${api}:${requestId}`;
      const endUser = caller.token ? [caller.token.end_user] : [];
      const identity = [api, caller.user_id, findFirstKeyId(caller), content, ...endUser];
      const insert = (isFinal: boolean) =>
        insertClientRequest(database, {
          request_id: requestId,
          tenant_id: caller.tenant_id,
          fingerprint: createHash("sha256").update(canonicalJson(identity)).digest(),
          idempotency_key: ownKey,
          holder,
          is_retry: isRetry,
          is_final: isFinal,
        });
      let idempotencyKey = await insert(false);
      if (idempotencyKey === undefined) {
        await clock.sleep(graceMs);
        idempotencyKey = (await insert(true)) ?? ownKey;
      }
      return {
        idempotencyKey,
        isJoined: idempotencyKey !== ownKey,
        end: (outcome) => endClientRequest(database, requestId, outcome),
      };
    },
  };
}
