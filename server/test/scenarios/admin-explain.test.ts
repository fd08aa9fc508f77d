// `admin.explain` in a running Gesso: a failed, an unknown, a canceled, a retried and a waiting run, each with its
// timeline, money and journal, and sentences that say what happened.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunExplanation } from "../../src/contract/schemas/admin.ts";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { writePrices } from "../support/priced-models.ts";
import { createTestTenant, type TestTenant } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const SECRET = "a lighthouse that stays secret";
const prices = writePrices();
let [environment, operator, own] = [] as unknown as [TestEnvironment, ApiCaller, TestTenant];
beforeAll(async () => {
  const env = { GESSO_CONFIG: prices.path, UNKNOWN_SECONDS: "2" };
  environment = await startTestEnvironment({ roles: "split", env });
  operator = createHttpCaller(environment);
  own = await createTestTenant(environment);
});
afterAll(async () => {
  await environment?.stop();
  prices.remove();
});

const generate = async (directives: string, fields: object = {}): Promise<string> => {
  const prompt = `${SECRET} [sandbox:${directives}]`;
  return (await own.caller.generate({ prompt, width: 64, height: 64, ...fields })).body.run_id;
};
const explain = async (runId: string): Promise<RunExplanation> => {
  const { status, body } = await operator.get(`/admin/runs/${runId}`);
  expect([status, body.code]).toEqual([200, undefined]);
  expect(JSON.stringify(body)).not.toContain(SECRET);
  return body;
};
const namesOf = ({ timeline }: RunExplanation) => timeline.map(({ what }) => what);

describe("admin.explain", () => {
  it("says why a run failed, with the provider's error and no charge", async () => {
    const runId = await generate("fail");
    await own.caller.waitUntilEnded(runId);
    const run = await explain(runId);
    expect(namesOf(run)).toEqual([
      ...["accepted", "begun", "submitting", "accepted by provider", "attempt failed", "failed"],
    ]);
    expect(run.attempts).toMatchObject([
      { try: 1, provider: "sandbox", state: "failed", price: 0.02, sends: 1, take_overs: 0 },
    ]);
    expect(run.money).toMatchObject({ reserved: 0.02, charged: 0, released: 0.02, wasted: 0 });
    expect(run.events.map(({ type }) => type)).toEqual(["run.queued", "run.processing", "run.failed"]);
    expect(run.conclusion).toMatch(/^The run failed with provider_error: .* charged nothing\.$/);
    expect(run.open).toBeNull();
    expect(run.engine.invocations).toMatchObject([{ epoch: 0, status: "completed" }]);
    expect(run.engine.invocations[0]!.journal.map(({ entry }) => entry)).toContain("Command: Run start");
  });

  it("says that the outcome of a paid request is not known, and what it may have cost", async () => {
    const runId = await generate("drop,no_callback", { model_type: "vendora" });
    await own.caller.waitUntilEnded(runId);
    const run = await explain(runId);
    expect(namesOf(run)).toContain("outcome unknown");
    expect(run.error?.code).toBe("provider_outcome_unknown");
    expect(run.money).toMatchObject({ reserved: 0.05, charged: 0, released: 0.05, wasted: 0.05 });
    expect(run.conclusion).toContain("It is not known whether the provider accepted try 1 of job 0 at sandbox");
    expect(run.conclusion).toContain("$0.05 is recorded as waste.");
  });

  it("says what a canceled run costs, because its provider had accepted the job", async () => {
    const runId = await generate("never");
    const waiting = await waitFor(runId, ({ attempts }) => attempts[0]?.state === "submitted");
    expect(waiting.conclusion).toContain("Job 0 waits for sandbox, which accepted it at");
    expect(waiting.open).toMatchObject({ epoch: 0, lane: "sandbox", requests: [{ activity: "at_provider" }] });
    await own.caller.post(`/runs/${runId}/cancel`);
    await own.caller.waitUntilEnded(runId);
    const run = await explain(runId);
    expect(namesOf(run).slice(-2)).toEqual(["cancel requested", "canceled"]);
    expect(run.conclusion).toContain("The provider had accepted try 1 of job 0 at sandbox, so it may charge it.");
    expect(run.money).toMatchObject({ charged: 0.02, released: 0 });
  });

  it("shows every attempt of a retried run", async () => {
    const runId = await generate("unavailable=2");
    await own.caller.waitUntilEnded(runId);
    const run = await explain(runId);
    expect(run.attempts.map(({ state }) => state)).toEqual(["failed", "failed", "succeeded"]);
    expect(run.files.filter(({ role }) => role === "result")).toHaveLength(1);
    expect(run.conclusion).toBe("The run completed with 1 file after 3 attempts. The tenant was charged $0.02.");
  });

  it("shows the deliveries of a run, without the query of the receiver's URL", async () => {
    await environment.stopGracefully("worker");
    const url = "https://hooks.example.com/gesso";
    const runId = await generate("delay=0", { webhook_url: `${url}?token=secret-of-the-receiver` });
    const queued = await explain(runId);
    expect(queued.conclusion).toContain(
      "The run waits in the queue of sandbox, with 0 runs of its tenant ahead of it.",
    );
    await environment.start("worker");
    const run = await waitFor(runId, ({ deliveries }) => deliveries.length > 0);
    expect(run.deliveries).toMatchObject([{ type: "run.completed", url }]);
    expect(JSON.stringify(run)).not.toContain("secret-of-the-receiver");
  });

  it("explains a run while the engine is down", async () => {
    const runId = await generate("never");
    await waitFor(runId, ({ attempts }) => attempts[0]?.state === "submitted");
    await environment.kill("restate");
    try {
      const run = await explain(runId);
      expect(run.engine).toEqual({ reachable: false, invocations: [] });
      expect(run.conclusion).toContain("Restate does not respond");
    } finally {
      await environment.start("restate");
    }
  });

  it("leaves an entry in the audit log of the tenant, and is refused to every other key", async () => {
    const runId = await generate("delay=0");
    await explain(runId);
    const entries = await environment.query(
      "select user_id, details from audit_log where tenant_id = $1 and action = 'admin.explain' and subject = $2",
      [own.tenant_id, runId],
    );
    expect(entries).toHaveLength(1);
    expect((await own.caller.get(`/admin/runs/${runId}`)).body.code).toBe("insufficient_scope");
    expect((await operator.get("/admin/runs/01990c3e-2f00-7000-8000-6f0c1a2b3c4d")).body.code).toBe("run_not_found");
  });
});

async function waitFor(runId: string, isMet: (run: RunExplanation) => boolean): Promise<RunExplanation> {
  for (const end = Date.now() + 300_000; ; await sleep(100)) {
    const run = await explain(runId);
    if (isMet(run)) return run;
    if (Date.now() > end) throw new Error(`never: ${JSON.stringify(run)}`);
  }
}
