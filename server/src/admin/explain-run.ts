// Explains a run of any tenant: what the database and the engine know about it, and what that means. The engine may be
// down: the explanation then says so. Each reading leaves an audit entry in the log of the run's tenant.

import type { RequestContext } from "../access/request-context.ts";
import type { Invocation, OpenState, RunExplanation } from "../contract/schemas/admin.ts";
import { type RunFacts, readRunFacts } from "../db/admin/explain-run.ts";
import { insertOperatorEntry } from "../db/admin/operator-entries.ts";
import { QUARANTINE_DEADLINE } from "../db/run-claims.ts";
import type { OpenSnapshot } from "../db/snapshot.ts";
import { Fault } from "../faults/faults.ts";
import type { Clock } from "../runtime/clock.ts";
import { concludeRun } from "./conclude.ts";
import { buildTimeline } from "./timeline.ts";

const MICRODOLLARS = 1e6;

export type ExplainDependencies = {
  /** The invocations of a run in the engine. Throws if the engine does not respond. */
  listInvocations(runId: string): Promise<Invocation[]>;
  openSnapshot(): Promise<OpenSnapshot>;
  clock: Pick<Clock, "now">;
};

export async function explainRun(
  { listInvocations, openSnapshot, clock }: ExplainDependencies,
  { database, caller }: Pick<RequestContext, "database" | "caller">,
  runId: string,
): Promise<RunExplanation> {
  const { snapshot, close } = await openSnapshot();
  const facts = await readRunFacts(snapshot, runId).finally(close);
  if (!facts) throw new Fault("run_not_found");
  const { run } = facts;
  await insertOperatorEntry(database, caller, { tenant_id: run.tenant_id, action: "admin.explain", subject: runId });
  const engine = await listInvocations(runId).then(
    (invocations) => ({ reachable: true, invocations }),
    () => ({ reachable: false, invocations: [] }),
  );
  const { tenant_id, user_id, key_id, operation, status, model, schema_hash, provider, error } = run;
  const explained = {
    ...{ run_id: runId, tenant_id, user_id, key_id, operation, status, model, schema_hash, provider, error },
    open: toOpenState(facts),
    timeline: buildTimeline(facts),
    attempts: facts.attempts.map(renderExplainedAttempt),
    money: toMoney(facts),
    engine,
    events: facts.events.map(({ type, created_at }) => ({ at: created_at.toISOString(), type })),
    deliveries: facts.deliveries.map(
      ({ created_at: _, finished_at: __, last_at: ___, url, next_attempt_at, ...rest }) => ({
        ...rest,
        url: withoutQuery(url),
        next_attempt_at: toTime(next_attempt_at),
      }),
    ),
    files: facts.files.map(({ created_at, deleted_at, ...file }) => ({
      ...file,
      created_at: created_at.toISOString(),
      deleted_at: toTime(deleted_at),
    })),
  };
  return { ...explained, conclusion: concludeRun(explained, clock.now()) };
}

const toTime = (date: Date | null) => date?.toISOString() ?? null;
/** The query of a receiver's URL often contains a credential. */
const withoutQuery = (url: string) => url.split(/[?#]/, 1)[0]!;
const toDollars = (amount: number | null) => (amount === null ? null : amount / MICRODOLLARS);

function toOpenState({ open, requests, rank, run }: RunFacts): OpenState | null {
  if (!open) return null;
  return {
    lane: open.lane,
    epoch: open.epoch,
    requeues: open.requeue_count,
    ahead: rank?.ahead ?? null,
    dispatched_at: toTime(open.dispatched_at),
    claim_expires_at: toTime(open.claim_expires_at),
    deadline_at: open.deadline_at.toISOString(),
    cancel_requested_at: toTime(open.cancel_requested_at),
    tenant_suspended: run.suspended_at !== null,
    quarantined: open.deadline_at.getTime() >= Date.parse(QUARANTINE_DEADLINE),
    requests: requests.map((request) => ({
      job: request.request_index,
      activity: request.activity,
      provider: request.provider,
      submitted_at: toTime(request.submitted_at),
      next_poll_at: toTime(request.next_poll_at),
      unreachable_since: toTime(request.provider_unreachable_since),
      slot_wanted_since: toTime(request.slot_wanted_since),
      claim_expires_at: toTime(request.claim_expires_at),
    })),
  };
}

const renderExplainedAttempt = (attempt: RunFacts["attempts"][number]): RunExplanation["attempts"][number] => ({
  job: attempt.request_index,
  try: attempt.attempt_number,
  provider: attempt.provider,
  upstream: attempt.upstream,
  state: attempt.state,
  price: toDollars(attempt.price),
  sends: attempt.sends,
  take_overs: attempt.take_overs,
  ticket: attempt.ticket,
  error: attempt.fault,
  created_at: attempt.created_at.toISOString(),
  lease_until: toTime(attempt.lease_until),
  unknown_since: toTime(attempt.unknown_since),
  submitted_at: toTime(attempt.submitted_at),
  finished_at: toTime(attempt.finished_at),
  settled: toDollars(attempt.settled_charge),
});

function toMoney({ ledger, budgets }: RunFacts): RunExplanation["money"] {
  const sumOf = (kind: string) =>
    ledger.transfers.filter((each) => each.kind === kind).reduce((sum, { amount }) => sum + amount, 0) / MICRODOLLARS;
  return {
    currency: "USD",
    reserved: sumOf("reserve"),
    charged: sumOf("settle"),
    released: sumOf("release"),
    wasted: sumOf("waste"),
    budgets: budgets.map((budget) => ({
      of: budget.is_tenant ? "tenant" : "key",
      balance: budget.is_prepaid ? toDollars(budget.available) : null,
      hour_used: budget.hour_used / MICRODOLLARS,
      hour_limit: toDollars(budget.hour_limit),
      day_used: budget.day_used / MICRODOLLARS,
      day_limit: toDollars(budget.day_limit),
      month_used: budget.month_used / MICRODOLLARS,
      month_limit: toDollars(budget.month_limit),
    })),
  };
}
