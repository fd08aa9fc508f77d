// One POST to a provider under a lease that the caller holds. The ticket is stored before anything else happens.
import { type AttemptId, dropLease, failAttempt, keepTicket } from "../db/attempts.ts";
import type { Held } from "../db/open-runs.ts";
import { toFault } from "../faults.ts";
import { failureOf } from "../providers/http.ts";
import { chosen } from "./choose.ts";
import type { JobInHand, Sent } from "./execute.ts";
import type { House } from "./house.ts";
import { handOver, providerContext } from "./provider-context.ts";
import { keepOutputs } from "./store.ts";

const LEASE_MARGIN_SECONDS = 5;
const FIRST_POLL_SECONDS = 2;
const MOST_TRIES = 3;

export const leaseSeconds = (house: House) => house.limits.submitSeconds + LEASE_MARGIN_SECONDS;

export async function send(house: House, held: Held, work: JobInHand, id: AttemptId): Promise<Sent> {
  const { live, offer } = chosen(house, work.choice, work.job);
  const context = providerContext(house, live, id);
  const sent = await live.provider
    .submit(await handOver(house, work.job), offer, context)
    .catch((thrown) => ({ thrown }));
  house.moment("answer_read");
  if ("thrown" in sent) return afterFailure(house, id, sent.thrown);

  if (sent.state === "running") {
    await keepTicket(house.db, id, sent.ticket, FIRST_POLL_SECONDS);
    return { state: "running", try: id.try };
  }
  return keepOutputs(house, held, { ...work, try: id.try }, live, sent);
}

async function afterFailure(house: House, id: AttemptId, thrown: unknown): Promise<Sent> {
  const { kind, retryAfterSeconds } = failureOf(thrown);
  const fault = toFault(thrown);
  house.log.warn({ run_id: id.run_id, try: id.try, kind, err: fault.cause }, "submission failed");
  if (kind === "doubt") {
    await dropLease(house.db, id);
    return { state: "later", try: id.try, seconds: 1 };
  }
  await failAttempt(house.db, id, fault.body());
  if (kind === "busy") return { state: "again", try: id.try + 1, seconds: retryAfterSeconds ?? 2 };
  if (kind === "unsent" && id.try < MOST_TRIES) return { state: "again", try: id.try + 1, seconds: 2 ** id.try };
  throw fault;
}
