// A submission was begun and its end is not known here. What may be done depends on what the provider offers: ask again
// under the same key, look the job up, or wait for its callback. Sending blindly is never among them.
import { type AttemptRow, failAttempt, keepTicket, latestAttempt, markUnknown, takeOver } from "../db/attempts.ts";
import { type Held, secondsLeft } from "../db/open-runs.ts";
import { Fault, toFault } from "../faults.ts";
import type { Choice, Ticket } from "../providers/provider.ts";
import { type Chosen, chosen } from "./choose.ts";
import type { JobInHand, Sent } from "./execute.ts";
import type { House } from "./house.ts";
import { providerContext } from "./provider-context.ts";
import { elsewhere, leaseSeconds, send } from "./send.ts";

/** How often to look whether a callback has come, beside being woken by it. */
const LOOK_SECONDS = 15;
const ASK_AGAIN_SECONDS = 5;

export async function resolveDoubt(house: House, held: Held, work: JobInHand): Promise<Sent> {
  const latest = await latestAttempt(house.db, held.run_id, work.n);
  if (!latest) throw new Fault("internal_error", {}, { cause: "an attempt was taken and is not there" });
  const attempt = latest.try;
  // The doubt is with whoever this try was sent to, which need not be who would be chosen now.
  const here = { ...work, choice: { provider: latest.provider, as: latest.upstream ?? work.choice.as } };
  if (latest.ticket) return adopt(house, latest, latest.ticket as Ticket, here.choice);
  if (latest.is_last) throw new Fault(latest.fault!.code, latest.fault!.details);
  if (latest.state === "failed" || latest.state === "abandoned")
    return { state: "again", try: attempt + 1, seconds: 0 };
  if (latest.state === "intent" && latest.lease > 0)
    return { state: "later", try: attempt, seconds: latest.lease + 0.5 };

  const { live, offer } = chosen(house, here.choice, work.job);
  if (offer.recovery === "replay" || offer.recovery === "free") return sendAgain(house, held, here, latest);
  if (offer.recovery === "find") return lookUp(house, held, here, latest);
  return awaitCallback(house, latest, { live, offer });
}

async function adopt(
  house: House,
  { run_id, job, try: attempt }: AttemptRow,
  ticket: Ticket,
  choice: Choice,
): Promise<Sent> {
  await keepTicket(house.db, { run_id, job, try: attempt }, { ticket }, 1);
  return { state: "running", try: attempt, choice };
}

async function sendAgain(house: House, held: Held, work: JobInHand, latest: AttemptRow): Promise<Sent> {
  const id = { run_id: latest.run_id, job: latest.job, try: latest.try };
  const mine = await takeOver(house.db, id, held, leaseSeconds(house));
  return mine ? send(house, held, work, id) : { state: "later", try: latest.try, seconds: 1 };
}

async function lookUp(house: House, held: Held, work: JobInHand, latest: AttemptRow): Promise<Sent> {
  const { live, offer } = chosen(house, work.choice, work.job);
  const looked = await live.provider.find!(providerContext(house, live, latest)).then(
    (ticket) => ({ ticket }),
    (thrown) => ({ fault: toFault(thrown) }),
  );
  if ("fault" in looked) {
    // Nobody can tell: then only a callback can. A question that got no answer is asked again.
    const isUnknowable = looked.fault.code === "provider_outcome_unknown";
    if (isUnknowable) return awaitCallback(house, latest, { live, offer });
    house.log.warn({ run_id: held.run_id, err: looked.fault.cause }, "a job could not be looked up");
    return awaitAnswer(house, held, latest);
  }
  if (looked.ticket) return adopt(house, latest, looked.ticket, work.choice);
  const grace = house.limits.lookupGraceSeconds;
  if (latest.unknown_for !== null && latest.unknown_for >= grace) return sendAnew(house, held, work, latest);
  await markUnknown(house.db, latest);
  return { state: "later", try: latest.try, seconds: grace - (latest.unknown_for ?? 0) + 0.2 };
}

/** The provider cannot be asked at the moment. It is asked again as long as the run has time. */
async function awaitAnswer(house: House, held: Held, latest: AttemptRow): Promise<Sent> {
  const remaining = await secondsLeft(house.db, held);
  if (remaining === undefined) return { state: "lost" };
  if (remaining > 0) return { state: "later", try: latest.try, seconds: ASK_AGAIN_SECONDS };
  await markUnknown(house.db, latest);
  throw new Fault("provider_outcome_unknown");
}

/** It was certainly not taken. Where the provider is still in trouble, somebody else may have it. */
async function sendAnew(house: House, held: Held, work: JobInHand, latest: AttemptRow): Promise<Sent> {
  const isShut = house.health.shutFor(work.choice) > 0;
  const other = isShut ? await elsewhere(house, work, latest) : undefined;
  if (!other) return sendAgain(house, held, work, latest);
  await failAttempt(house.db, latest, { fault: new Fault("provider_error").body(), isLast: false });
  return { state: "again", try: latest.try + 1, seconds: 0, choice: other };
}

async function awaitCallback(house: House, latest: AttemptRow, { live, offer }: Chosen): Promise<Sent> {
  await markUnknown(house.db, latest);
  const { callbackUrl } = providerContext(house, live, latest);
  // A provider that never calls back is not waited for: nothing would ever tell.
  const patience = live.provider.callback && callbackUrl ? house.limits.unknownSeconds : 0;
  const left = patience - (latest.unknown_for ?? 0);
  if (left > 0) return { state: "later", try: latest.try, seconds: Math.min(left + 0.2, LOOK_SECONDS) };
  const fault = new Fault("provider_outcome_unknown");
  const isLast = offer.on_unknown !== "resubmit";
  await failAttempt(house.db, latest, { fault: fault.body(), isLast });
  house.moment("given_up");
  if (isLast) throw fault;
  return { state: "again", try: latest.try + 1, seconds: 0 };
}
