// How often the request of an attempt was sent, and how often the attempt was taken over: operators compare the first
// with the bill of the provider.
import { beforeEach, describe, expect, it } from "vitest";
import { attemptOf, claimAttemptAt, done, requestTo, SimulatedCrash } from "../../../test/support/step-fixtures.ts";
import { setUpStep } from "../../../test/support/step-setup.ts";
import { readRunFacts } from "../../db/admin/explain-run.ts";
import { expireAttemptLease } from "../../db/attempts/attempts.ts";
import { receiveCallback, saveTicket } from "../../db/attempts/tickets.ts";
import { providerBusy, providerFault } from "../../providers/call-provider.ts";
import { unsentRequest } from "../../runtime/unsent-request.ts";
import { saveSpooledResponse } from "./save-response.ts";
import { sendToProvider } from "./send-to-provider.ts";
import { resolveUnknownOutcome } from "./unknown-outcome.ts";

const { database, runtime, first, claim, services, use, reset } = setUpStep();
beforeEach(async () => {
  await reset({ offer: { recovery: "replay" } });
  use(first);
});

const send = async () =>
  sendToProvider(services, claim, requestTo(first), await claimAttemptAt(database.db, claim, first)).catch(() => {});
const resolve = () => resolveUnknownOutcome(services, claim, requestTo(first));
const expire = () => expireAttemptLease(database.db, attemptOf(claim));
const counts = async () =>
  (await readRunFacts(database.db, claim.run_id))!.attempts.map(({ sends, take_overs }) => ({ sends, take_overs }));
const failOnce = (thrown: Error) => {
  const { submit } = first;
  first.submit = () => {
    first.submit = submit;
    return Promise.reject(thrown);
  };
};

describe("an attempt counts as sent", () => {
  it("once if the provider accepted it", async () => {
    await send();
    expect(await counts()).toEqual([{ sends: 1, take_overs: 0 }]);
  });

  it("once if the provider responded with the result", async () => {
    first.submit = async () => done("pixels");
    await send();
    expect(await counts()).toEqual([{ sends: 1, take_overs: 0 }]);
  });

  it("once if the provider was busy, because it got the request", async () => {
    failOnce(providerBusy("429", 4));
    await send();
    expect(await counts()).toEqual([{ sends: 1, take_overs: 0 }]);
  });

  it("never if the connection was refused, also after an upload that was sent", async () => {
    failOnce(providerFault("provider_error", { kind: "unsent", cause: unsentRequest("ECONNREFUSED") }));
    await send();
    expect(await counts()).toEqual([{ sends: 0, take_overs: 0 }]);
  });

  it("never if it could not be built", async () => {
    first.isUnableToSend = true;
    await send();
    expect(await counts()).toEqual([{ sends: 0, take_overs: 0 }]);
  });

  it("once if the saving of its ticket is repeated, because PostgreSQL did not respond", async () => {
    await send();
    const ticket = { job: `${claim.run_id}.0.1` };
    for (let repeated = 0; repeated < 3; repeated++)
      await saveTicket(database.db, attemptOf(claim), { ticket, request: {} }, 1);
    expect(await counts()).toEqual([{ sends: 1, take_overs: 0 }]);
  });

  it("twice if its response was lost and it was sent again with the same key", async () => {
    failOnce(new Error("socket hang up"));
    await send();
    expect(await counts()).toEqual([{ sends: 1, take_overs: 0 }]);
    expect(await resolve()).toMatchObject({ state: "running" });
    expect(first.submissions).toHaveLength(2);
    expect(await counts()).toEqual([{ sends: 2, take_overs: 1 }]);
  });

  it("once if it was taken over and the second worker sent nothing", async () => {
    failOnce(new Error("socket hang up"));
    await send();
    failOnce(providerFault("provider_error", { kind: "unsent", cause: unsentRequest("ECONNREFUSED") }));
    expect(await resolve()).toMatchObject({ state: "wait" });
    expect(await counts()).toEqual([{ sends: 1, take_overs: 1 }]);
  });

  it("once if another worker saves the response that the first one left in the spool", async () => {
    const attempt = await claimAttemptAt(database.db, claim, first);
    await expire();
    const spooled = { response: done("pixels"), offer: first.offer, task: "image.generate", request: {} } as const;
    expect(await saveSpooledResponse(services, claim, attempt, { spooled })).toMatchObject({ state: "produced" });
    expect(await counts()).toEqual([{ sends: 1, take_overs: 1 }]);
  });

  it("once if its worker died and a callback proves that the provider has the job", async () => {
    runtime.crashAt = "answer_read";
    const attempt = await claimAttemptAt(database.db, claim, first);
    await expect(sendToProvider(services, claim, requestTo(first), attempt)).rejects.toThrow(SimulatedCrash);
    expect(await counts()).toEqual([{ sends: 0, take_overs: 0 }]);
    await receiveCallback(database.db, { ...attempt, provider: "first" }, { job: "j" }, 1);
    expect(await counts()).toEqual([{ sends: 1, take_overs: 0 }]);
  });

  it("once if a callback overtook the response that saves the same ticket", async () => {
    first.submit = async (key) => {
      await receiveCallback(database.db, { ...attemptOf(claim), provider: "first" }, { job: key }, 1);
      return { state: "running", ticket: { job: key } };
    };
    await send();
    expect(await counts()).toEqual([{ sends: 1, take_overs: 0 }]);
  });
});

it("an attempt of an earlier version counts as sent if it has a ticket", async () => {
  await send();
  const forget = "update attempts set sent_claims = 0 where run_id = $1";
  await database.db.query("test.forget", forget, [claim.run_id]);
  expect(await counts()).toEqual([{ sends: 1, take_overs: 0 }]);
});
