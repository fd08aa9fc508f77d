// Reads how a submitted job stands; when it is done, its files become ours before anyone hears of it.
import { type AttemptId, type AttemptRow, failAttempt, heldAttempt, latestAttempt } from "../db/attempts.ts";
import { armWake, type Held } from "../db/open-runs.ts";
import { Fault, toFault } from "../faults.ts";
import { failureOf } from "../providers/http.ts";
import type { Progress, Ticket } from "../providers/provider.ts";
import { chosen } from "./choose.ts";
import type { Armed, Collected, JobInHand } from "./execute.ts";
import type { House, LiveProvider } from "./house.ts";
import { providerContext } from "./provider-context.ts";
import { keepOutputs } from "./store.ts";

export async function collect(house: House, held: Held, work: JobInHand, attempt: { try: number }): Promise<Collected> {
  const { live } = chosen(house, work.choice, work.job);
  const row = await heldAttempt(house.db, held, work.n);
  if (!row) return { state: "lost" };
  if (!row.ticket) throw new Fault("internal_error", {}, { cause: "a submitted attempt has no ticket" });
  const id = { run_id: held.run_id, job: work.n, try: attempt.try };
  const progress = await ask(house, live, id, row);
  if (progress.state === "gone") {
    await failAttempt(house.db, id, { fault: new Fault("provider_error").body(), isLast: false });
    return { state: "again", try: id.try + 1, seconds: 0 };
  }
  if (progress.state === "running") return { state: "running" };
  return keepOutputs(house, held, { ...work, try: id.try }, live, progress);
}

/** A question that got no answer is asked again later; only the provider's own word ends a job. */
async function ask(
  house: House,
  live: LiveProvider,
  id: AttemptId,
  { ticket: kept, silent_for }: AttemptRow,
): Promise<Progress | { state: "gone" }> {
  const ticket = kept as Ticket;
  try {
    return await live.provider.check(ticket, providerContext(house, live, id, { silentSeconds: silent_for ?? 0 }));
  } catch (thrown) {
    const { kind, status } = failureOf(thrown);
    if (kind === "gone") return { state: "gone" };
    if (kind === "failed" || (kind === "refused" && status === undefined) || status === 404) {
      // The provider's own word that there will be nothing: it is not paid for, and no longer under way.
      await failAttempt(house.db, id, { fault: toFault(thrown).body(), isLast: true });
      throw thrown;
    }
    return { state: "running", ticket };
  }
}

/** Hangs a new bell, and ends the wait when the run's time is over. */
export async function arm(
  house: House,
  held: Held,
  work: JobInHand,
  bell: { wakeId: string; seconds: number },
): Promise<Armed> {
  const armed = await armWake(house.db, held, { ...bell, doing: "vendor" });
  if (!armed) return { state: "lost" };
  if (armed.canceled) return { state: "canceled" };
  if (armed.remaining <= 0) {
    await cancelAtProvider(house, held, work);
    throw new Fault("provider_timeout");
  }
  return { state: "armed" };
}

/** Tells the provider to stop, as well as it can be told: the run ends in any case. */
export async function cancelAtProvider(house: House, held: Held, work: JobInHand): Promise<void> {
  const row = await latestAttempt(house.db, held.run_id, work.n);
  const live = house.providers.find(({ provider }) => provider.id === row?.provider);
  if (!row?.ticket || !live?.provider.cancel) return;
  await live.provider.cancel(row.ticket as Ticket, providerContext(house, live, row)).catch((thrown) => {
    house.log.warn({ run_id: held.run_id, err: thrown }, "the provider did not cancel");
  });
}
