// The requests of clients that send no idempotency key: which of them repeats which, and whether it was answered.
import type { Database } from "./connect.ts";
import { statement } from "./statement.ts";

export type NewClientRequest = {
  request_id: string;
  tenant_id: string;
  fingerprint: Buffer;
  idempotency_key: string;
  holder: number;
  /** The client says that it sent the same request before. */
  is_retry: boolean;
  /** Insert the request even if an equal one is being answered at the moment. */
  is_final: boolean;
};

/**
 * Only one request joins each earlier one: of two equal requests that both were lost, both are repeated. A free lock
 * is taken in shared mode, so that concurrent requests do not see each other's lock.
 */
const INSERT = statement(
  "client_requests.insert",
  `with earlier as (
     select request_id, state, state = 'lost' or (state = 'open' and pg_try_advisory_xact_lock_shared(holder)) as is_lost
     from client_requests
     where tenant_id = :tenant_id and fingerprint = :fingerprint and state <> 'joined'
       and created_at > now() - interval '15 minutes'
   ), chosen as (
     select client_requests.request_id from client_requests join earlier using (request_id)
     where client_requests.state <> 'joined' and (earlier.is_lost or :is_retry::boolean)
     order by not earlier.is_lost, earlier.state = 'answered', request_id desc limit 1
     for update of client_requests skip locked
   ), joined as (
     update client_requests set state = 'joined' where request_id = (select request_id from chosen)
     returning idempotency_key
   )
   insert into client_requests (request_id, tenant_id, fingerprint, idempotency_key, holder)
   select :request_id, :tenant_id, :fingerprint,
     coalesce((select idempotency_key from joined), :idempotency_key), :holder::bigint
   where :is_final::boolean or exists (select from joined) or not exists (select from earlier where state = 'open')
   returning idempotency_key`,
);

/** Returns the key of the request, which may be that of an earlier one; undefined if it was not inserted. */
export async function insertClientRequest(db: Database, request: NewClientRequest): Promise<string | undefined> {
  const [row] = await db.execute(INSERT, request);
  return row?.idempotency_key;
}

const END = statement(
  "client_requests.end",
  "update client_requests set state = :state where request_id = :request_id and state = 'open'",
);

export async function endClientRequest(db: Database, requestId: string, state: "answered" | "lost"): Promise<void> {
  await db.execute(END, { request_id: requestId, state });
}
