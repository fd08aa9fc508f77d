// A submission was begun and its end is not known here. What may be done depends on what the provider offers: ask again
// under the same key, look the job up, or wait for its callback. Sending blindly is never among them.
import { type AttemptRow, failAttempt, keepTicket, latestAttempt, markUnknown, takeOver } from "../db/attempts.ts";
import type { Held } from "../db/open-runs.ts";
import { Fault } from "../faults.ts";
import type { Ticket } from "../providers/provider.ts";
import { chosen } from "./choose.ts";
import type { JobInHand, Sent } from "./execute.ts";
import type { House } from "./house.ts";
import { providerContext } from "./provider-context.ts";
import { leaseSeconds, send } from "./send.ts";

/** How often to look whether a callback has come, beside being woken by it. */
const LOOK_SECONDS = 15;

export async function resolveDoubt(house: House, held: Held, work: JobInHand): Promise<Sent> {
  const latest = await latestAttempt(house.db, held.run_id, work.n);
  if (!latest) throw new Fault("internal_error", {}, { cause: "an attempt was taken and is not there" });
  const attempt = latest.try;
  if (latest.ticket) return adopt(house, latest, latest.ticket as Ticket);
  if (latest.state === "failed" || latest.state === "abandoned")
    return { state: "again", try: attempt + 1, seconds: 0 };
  if (latest.state === "intent" && latest.lease > 0)
    return { state: "later", try: attempt, seconds: latest.lease + 0.5 };

  const { offer } = chosen(house, work.choice, work.job);
  if (offer.recovery === "replay" || offer.recovery === "free") return sendAgain(house, held, work, latest);
  if (offer.recovery === "find") return lookUp(house, held, work, latest);
  return awaitCallback(house, latest, offer.on_unknown === "resubmit");
}

async function adopt(house: House, { run_id, job, try: attempt }: AttemptRow, ticket: Ticket): Promise<Sent> {
  await keepTicket(house.db, { run_id, job, try: attempt }, ticket, 1);
  return { state: "running", try: attempt };
}

async function sendAgain(house: House, held: Held, work: JobInHand, latest: AttemptRow): Promise<Sent> {
  const id = { run_id: latest.run_id, job: latest.job, try: latest.try };
  const mine = await takeOver(house.db, id, held, leaseSeconds(house));
  return mine ? send(house, held, work, id) : { state: "later", try: latest.try, seconds: 1 };
}

async function lookUp(house: House, held: Held, work: JobInHand, latest: AttemptRow): Promise<Sent> {
  const { live } = chosen(house, work.choice, work.job);
  const found = await live.provider.find!(providerContext(house, live, latest));
  if (found) return adopt(house, latest, found);
  const grace = house.limits.lookupGraceSeconds;
  if (latest.unknown_for !== null && latest.unknown_for >= grace) return sendAgain(house, held, work, latest);
  await markUnknown(house.db, latest);
  return { state: "later", try: latest.try, seconds: grace - (latest.unknown_for ?? 0) + 0.2 };
}

async function awaitCallback(house: House, latest: AttemptRow, mayResubmit: boolean): Promise<Sent> {
  await markUnknown(house.db, latest);
  const left = house.limits.unknownSeconds - (latest.unknown_for ?? 0);
  if (left > 0) return { state: "later", try: latest.try, seconds: Math.min(left + 0.2, LOOK_SECONDS) };
  const fault = new Fault("provider_outcome_unknown");
  await failAttempt(house.db, latest, fault.body());
  if (mayResubmit) return { state: "again", try: latest.try + 1, seconds: 0 };
  throw fault;
}
