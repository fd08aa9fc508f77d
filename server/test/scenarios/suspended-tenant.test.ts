// A tenant that the operator suspends and activates again, in a running Gesso: queued runs wait, a submitted run is
// completed, webhooks wait, and other tenants notice nothing.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { createTestTenant, type TestTenant } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { startWebhookReceiver, type WebhookReceiver, webhookEnv } from "../webhooks/receiver.ts";

let environment: TestEnvironment;
let receiver: WebhookReceiver;
let operator: ApiCaller;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  environment = await startTestEnvironment({ roles: "split", env: webhookEnv(receiver) });
  operator = createHttpCaller(environment);
});
afterAll(async () => {
  await environment?.stop();
  await receiver?.close();
});

const requestOf = (seconds: number) => ({ prompt: `[sandbox:delay=${seconds}] a boat`, width: 64, height: 64 });
const suspend = async ({ tenant_id }: TestTenant, suspended: boolean) =>
  expect((await operator.send("PATCH", `/api/v1/tenants/${tenant_id}`, { body: { suspended } })).status).toBe(200);
const statusOf = async (runId: string) =>
  (await environment.query<{ status: string }>("select status from runs where run_id = $1", [runId]))[0]!.status;
const countAttempts = async ({ tenant_id }: TestTenant) =>
  (
    await environment.query<{ count: number }>(
      "select count(*)::int as count from attempts join runs using (run_id) where tenant_id = $1",
      [tenant_id],
    )
  )[0]!.count;
async function waitForStatus(runId: string, status: string): Promise<void> {
  for (const end = Date.now() + 300_000; (await statusOf(runId)) !== status; await sleep(50))
    if (Date.now() > end) throw new Error(`run ${runId} is ${await statusOf(runId)}, not ${status}`);
}

describe("a suspended tenant", () => {
  it("has queued runs that nothing starts, and that start when it is active again, without a restart", async () => {
    const [own, other] = [await createTestTenant(environment), await createTestTenant(environment)];
    await environment.stopGracefully("worker");
    const accepted = await Promise.all(Array.from({ length: 3 }, () => own.caller.generate(requestOf(0))));
    const runIds = accepted.map(({ body }) => body.run_id as string);
    await suspend(own, true);
    await environment.start("worker");
    // Two runs of another tenant, one after the other, pass the dispatcher while these wait.
    for (let count = 0; count < 2; count++) {
      const { body } = await other.caller.generate(requestOf(0));
      expect((await other.caller.waitUntilEnded(body.run_id)).status).toBe("completed");
    }
    expect(await Promise.all(runIds.map(statusOf))).toEqual(["queued", "queued", "queued"]);
    expect(await countAttempts(own)).toBe(0);
    await suspend(own, false);
    for (const runId of runIds) expect((await own.caller.waitUntilEnded(runId)).status).toBe("completed");
    expect(await countAttempts(own)).toBe(3);
  });

  it("has a submitted run that is completed, and its webhook is sent when the tenant is active again", async () => {
    const own = await createTestTenant(environment);
    const { body } = await own.caller.generate({ ...requestOf(2), webhook_url: `${receiver.url}/run` });
    for (const end = Date.now() + 300_000; (await countAttempts(own)) === 0 && Date.now() < end; ) await sleep(20);
    await suspend(own, true);
    expect((await own.caller.get(`/runs/${body.run_id}`)).body.code).toBe("tenant_suspended");
    await waitForStatus(body.run_id, "completed");
    // A message of another tenant passes the same queue.
    const other = await createTestTenant(environment);
    const passing = (await other.caller.generate({ ...requestOf(0), webhook_url: `${receiver.url}/other` })).body;
    await receiver.got(1, ({ event }) => event.data?.run_id === passing.run_id);
    const isOfRun = ({ event }: (typeof receiver.received)[number]) => event.data?.run_id === body.run_id;
    expect(receiver.received.filter(isOfRun)).toEqual([]);
    await suspend(own, false);
    const [message] = await receiver.got(1, isOfRun);
    expect(message!.event.type).toBe("run.completed");
    expect(await countAttempts(own)).toBe(1);
  });
});
