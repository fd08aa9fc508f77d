// One POST to a provider under a lease that the caller holds. The ticket is stored before anything else happens.
import { type AttemptId, dropLease, failAttempt, keepTicket, renewLease, triedOffers } from "../db/attempts.ts";
import type { Held } from "../db/open-runs.ts";
import { type Fault, toFault } from "../faults.ts";
import type { Json } from "../kit/shapes.ts";
import { fit } from "../providers/fit.ts";
import { type FailureKind, failureOf } from "../providers/http.ts";
import type { Choice } from "../providers/provider.ts";
import { choiceOf, chosen, standIns } from "./choose.ts";
import type { JobInHand, Sent } from "./execute.ts";
import type { House } from "./house.ts";
import { handOver, providerContext } from "./provider-context.ts";
import { recorded } from "./record.ts";
import { keepOutputs } from "./store.ts";

const LEASE_MARGIN_SECONDS = 5;
const FIRST_POLL_SECONDS = 2;
const MOST_TRIES = 3;
const LONGEST_PAUSE_SECONDS = 30;

export const leaseSeconds = (house: House) => house.limits.submitSeconds + LEASE_MARGIN_SECONDS;

export async function send(house: House, held: Held, work: JobInHand, id: AttemptId): Promise<Sent> {
  const { live, offer } = chosen(house, work.choice, work.job);
  const { context, request } = recorded(providerContext(house, live, id, offer));
  const { job } = fit(await handOver(house, work.job), offer);
  const submitting = live.provider.submit(job, offer, context).catch((thrown) => ({ thrown }));
  const sent = await (offer.blocksSeconds === undefined ? submitting : keepingLease(house, held, id, submitting));
  house.moment("answer_read");
  if ("thrown" in sent) return afterFailure(house, work, id, { thrown: sent.thrown, request: request() });

  await house.health.good(work.choice);
  if (sent.state === "running") {
    await keepTicket(
      house.db,
      id,
      { ticket: sent.ticket, request: request() },
      live.provider.pollSeconds ?? FIRST_POLL_SECONDS,
    );
    return { state: "running", try: id.try };
  }
  return keepOutputs(house, held, { ...work, try: id.try, request: request() }, live, sent);
}

/**
 * A provider that answers only when the picture is there may take minutes. The lease is renewed while we wait, so that
 * nobody takes us for dead; if we are, it soon runs out.
 */
async function keepingLease<T>(house: House, held: Held, id: AttemptId, submitting: Promise<T>): Promise<T> {
  const renew = () => renewLease(house.db, held, id, leaseSeconds(house)).catch(() => {});
  const timer = setInterval(renew, (leaseSeconds(house) / 3) * 1000);
  return submitting.finally(() => clearInterval(timer));
}

type Failed = { thrown: unknown; request: Json | undefined };

async function afterFailure(house: House, work: JobInHand, id: AttemptId, { thrown, request }: Failed): Promise<Sent> {
  const { kind, retryAfterSeconds } = failureOf(thrown);
  const fault = toFault(thrown);
  if (kind === "doubt" && request === undefined) return neverBegun(house, id, fault);
  house.log.warn({ run_id: id.run_id, try: id.try, kind, err: fault.cause }, "submission failed");
  const isProviders = kind === "doubt" || kind === "busy" || kind === "unsent" || fault.code === "model_unavailable";
  if (isProviders) await house.health.bad(work.choice);
  else await house.health.good(work.choice);
  if (kind === "doubt") {
    await dropLease(house.db, id, request);
    return { state: "later", try: id.try, seconds: 1 };
  }
  // It was certainly not taken, and not for what it shows or asks: somebody else may be asked.
  const other = isProviders ? await elsewhere(house, work, id) : undefined;
  const next = nextAfter({ kind, other, retryAfterSeconds, try: id.try });
  await failAttempt(house.db, id, { fault: fault.body(), request, isLast: !next });
  if (!next) throw fault;
  return { state: "again", try: id.try + 1, ...next };
}

type Told = { kind: FailureKind; other: Choice | undefined; retryAfterSeconds: number | undefined; try: number };

/** When it is tried again, and with whom. Undefined: it is not. */
function nextAfter({ kind, other, retryAfterSeconds, try: attempt }: Told) {
  if (other) return { seconds: 0, choice: other };
  if (kind === "busy") return { seconds: retryAfterSeconds ?? 2 };
  if (kind === "unsent" && attempt < MOST_TRIES) return { seconds: 2 ** attempt };
  return undefined;
}

/** Something of ours was missing before anything was sent, a picture in storage for instance: nobody is to blame but us. */
async function neverBegun(house: House, id: AttemptId, fault: Fault): Promise<Sent> {
  house.log.warn({ run_id: id.run_id, try: id.try, err: fault }, "a submission could not be put together");
  await failAttempt(house.db, id, { fault: fault.body(), isLast: false });
  return { state: "again", try: id.try + 1, seconds: Math.min(2 ** id.try, LONGEST_PAUSE_SECONDS) };
}

/** Who may stand in: in order, and not asked for this job before. */
export async function elsewhere(house: House, work: JobInHand, id: AttemptId): Promise<Choice | undefined> {
  const others = standIns(house, work.choice, work.job).map(choiceOf);
  if (others.length === 0) return undefined;
  const tried = await triedOffers(house.db, id);
  const isTried = ({ provider, as }: Choice) =>
    tried.some((each) => each.provider === provider && each.upstream === as);
  return others.find((other) => !isTried(other) && house.health.shutFor(other) === 0);
}
