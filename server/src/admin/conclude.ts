// Says in plain sentences what an open run waits for, or why a run ended and what an operator can do about it.
import type { ExplainedAttempt, OpenState, RunExplanation } from "../contract/schemas/admin.ts";

export type ExplainedFacts = Omit<RunExplanation, "conclusion">;

export function concludeRun(facts: ExplainedFacts, now: number): string {
  const sentences = facts.open ? describeWait(facts, facts.open, now) : describeEnd(facts);
  return sentences.join(" ");
}

const formatDollars = (amount: number) => `$${amount.toFixed(amount !== 0 && amount < 0.01 ? 4 : 2)}`;
const nameOf = (attempt: ExplainedAttempt) => `try ${attempt.try} of job ${attempt.job} at ${attempt.provider}`;
const isUnknown = ({ state, error }: ExplainedAttempt) =>
  state === "unknown" || (state === "failed" && error?.code === "provider_outcome_unknown");

function describeEnd(facts: ExplainedFacts): string[] {
  const { status, error, attempts, money, files } = facts;
  const waste = money.wasted > 0 ? [`${formatDollars(money.wasted)} is recorded as waste.`] : [];
  if (status === "completed") {
    const results = files.filter(({ role }) => role === "result").length;
    const tries = attempts.length > 1 ? ` after ${attempts.length} attempts` : "";
    return [
      `The run completed with ${results} ${results === 1 ? "file" : "files"}${tries}.`,
      describeCharge(money),
      ...waste,
    ];
  }
  if (status === "canceled") {
    const submitted = attempts.filter(({ state }) => state === "submitted" || state === "succeeded");
    const when =
      submitted.length > 0
        ? `The provider had accepted ${nameOf(submitted[0]!)}, so it may charge it.`
        : "No provider had accepted a job of it.";
    return [`The run was canceled (${error?.code}). ${when}`, describeCharge(money), ...waste];
  }
  return [
    `The run failed with ${error?.code}: ${error?.message}`,
    ...describeFailure(facts),
    describeCharge(money),
    ...waste,
  ];
}

const describeCharge = ({ charged }: ExplainedFacts["money"]) =>
  charged > 0 ? `The tenant was charged ${formatDollars(charged)}.` : "The tenant was charged nothing.";

const sumSettled = (attempts: ExplainedAttempt[]) => attempts.reduce((sum, { settled }) => sum + (settled ?? 0), 0);

function describeFailure({ attempts }: ExplainedFacts): string[] {
  const unknown = attempts.filter(isUnknown);
  if (unknown.length > 0)
    return [
      `It is not known whether the provider accepted ${unknown.map(nameOf).join(" and ")}: the response was lost, and ` +
        "the provider cannot be asked. Gesso did not submit it again.",
      unknown.every(({ settled }) => settled !== null)
        ? `An operator settled it: the provider charged ${formatDollars(sumSettled(unknown))}.`
        : "Look at the provider's own list of jobs, then settle it.",
    ];
  const last = attempts.at(-1);
  return last
    ? [`Its last attempt of ${attempts.length} was ${nameOf(last)}.`]
    : ["Nothing was submitted to a provider."];
}

/** The first matching reason is the one that holds the run up. */
function describeWait(facts: ExplainedFacts, open: OpenState, now: number): string[] {
  if (open.quarantined) return ["The run is in quarantine: nothing executes it until an operator retries or ends it."];
  const ends = `It fails at ${open.deadline_at} if it has not ended then.`;
  const canceled = open.cancel_requested_at ? ["Its cancellation was requested; it ends at its next step."] : [];
  if (open.dispatched_at === null) return [...canceled, describeQueue(open), ends];
  const lost = isPast(open.claim_expires_at, now) && open.requests.length === 0;
  if (lost) return [...canceled, "Its claim has expired: the reconciler queues it again within seconds.", ends];
  return [...canceled, ...describeWork(facts, open, now), ...describeEngine(facts, open), ends];
}

const isPast = (time: string | null, now: number) => time !== null && Date.parse(time) < now;

function describeQueue({ tenant_suspended, lane, ahead, epoch }: OpenState): string {
  if (tenant_suspended) return "The run waits in the queue because its tenant is suspended.";
  const before = ahead === null ? "" : `, with ${ahead} runs of its tenant ahead of it`;
  const again = epoch > 0 ? ` It was dispatched before and returned to the queue; its epoch is ${epoch}.` : "";
  return `The run waits in the queue of ${lane || "local work"}${before}.${again}`;
}

function describeWork({ status, attempts }: ExplainedFacts, open: OpenState, now: number): string[] {
  if (status === "queued") return [`The run was sent to Restate at ${open.dispatched_at} and has not begun.`];
  const unknown = attempts.find(({ state }) => state === "unknown");
  if (unknown)
    return [
      `The run waits to learn whether ${nameOf(unknown)} was accepted; its outcome is unknown since ${unknown.unknown_since}.`,
      "A callback, a look-up or an operator can settle it.",
    ];
  const inFlight = attempts.find(({ state, lease_until }) => state === "intent" && !isPast(lease_until, now));
  if (inFlight)
    return [`The run submits ${nameOf(inFlight)}; no other worker may do so until ${inFlight.lease_until}.`];
  const waiting = open.requests.flatMap((request) => describeRequest(request));
  return waiting.length > 0 ? waiting : ["A worker executes a step of the run."];
}

function describeRequest({ job, activity, provider, ...request }: OpenState["requests"][number]): string[] {
  if (activity === "waiting_for_slot")
    return [`Job ${job} waits for a slot of its provider since ${request.slot_wanted_since ?? "now"}.`];
  if (activity !== "at_provider") return [];
  const silent = request.unreachable_since ? ` The provider does not respond since ${request.unreachable_since}.` : "";
  const poll = request.next_poll_at ? ` The next poll is at ${request.next_poll_at}.` : "";
  return [`Job ${job} waits for ${provider}, which accepted it at ${request.submitted_at}.${poll}${silent}`];
}

function describeEngine({ engine }: ExplainedFacts, { epoch }: OpenState): string[] {
  if (!engine.reachable) return ["Restate does not respond, so no step is executed."];
  const current = engine.invocations.find((each) => each.epoch === epoch);
  if (!current) return ["Restate has no invocation of this epoch: the run is queued again when its claim expires."];
  return current.last_failure ? [`Restate retries a step. Its last error: ${current.last_failure}`] : [];
}
