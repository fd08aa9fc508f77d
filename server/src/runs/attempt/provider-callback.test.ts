// Callbacks of providers on a real database: what they save, and what they leave unchanged.
import { beforeEach, describe, expect, it } from "vitest";
import { attemptOf, claimAttemptAt, claimRun } from "../../../test/support/step-fixtures.ts";
import { setUpStep } from "../../../test/support/step-setup.ts";
import { failAttempt } from "../../db/attempts/attempts.ts";
import { claimJobsToPoll } from "../../db/attempts/open-requests.ts";
import { saveTicket } from "../../db/attempts/tickets.ts";
import { Fault } from "../../faults/faults.ts";
import type { CallbackStatus } from "../../providers/provider.ts";
import { handleProviderCallback } from "./provider-callback.ts";

const { database, first, claim, services, latestAttempt } = setUpStep();
const woken: string[] = [];
const target = () => ({ ...attemptOf(claim), provider: "first" });
const READY = { ticket: { id: "1" }, ended: true, outcome: { status: "Ready", sample: "https://result" } };

const receive = (callback: CallbackStatus) => {
  first.provider.parseCallback = async () => callback;
  const notifications = { resolveWakeup: async (id: string) => void woken.push(id) };
  return handleProviderCallback({ ...services, notifications } as never, target(), {
    headers: new Headers(),
    body: "{}",
  });
};

beforeEach(async () => {
  woken.length = 0;
  Object.assign(claim, await claimRun(database.db));
  await claimAttemptAt(database.db, claim, first);
});

describe("a callback that reports the outcome", () => {
  it("adds it to the ticket of the job, for the run and for the poller", async () => {
    await saveTicket(database.db, attemptOf(claim), { ticket: { id: "1", polling_url: "https://x" } }, 0);
    await receive(READY);
    const ticket = { id: "1", polling_url: "https://x", status: "Ready", sample: "https://result" };
    expect((await latestAttempt()).ticket).toEqual(ticket);
    const jobs = await claimJobsToPoll(database.db, "first", { limit: 100, everySeconds: 1 });
    expect(jobs.find(({ run_id }) => run_id === claim.run_id)).toMatchObject({ ticket });
    expect(woken).toEqual(["wakeup"]);
  });

  it("is the ticket and the outcome of a job whose response was lost", async () => {
    await receive(READY);
    expect(await latestAttempt()).toMatchObject({
      ...{ state: "submitted", ticket: { id: "1", status: "Ready", sample: "https://result" } },
    });
  });

  it("changes nothing if it is about another job", async () => {
    await saveTicket(database.db, attemptOf(claim), { ticket: { id: "2" } }, 0);
    await receive(READY);
    expect((await latestAttempt()).ticket).toEqual({ id: "2" });
  });

  it("changes nothing if the attempt has ended", async () => {
    await saveTicket(database.db, attemptOf(claim), { ticket: { id: "1" } }, 0);
    await failAttempt(database.db, attemptOf(claim), { fault: new Fault("provider_error").body(), isFinal: true });
    await receive(READY);
    expect((await latestAttempt()).ticket).toEqual({ id: "1" });
  });
});
