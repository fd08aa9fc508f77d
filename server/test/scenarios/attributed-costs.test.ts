// Costs that count for customers, end users and tags, through the API: with keys and with access tokens.
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { ORDER, PRICE, type PricedInstallation, startPricedInstallation } from "../money/priced-installation.ts";
import { createHttpCaller } from "../support/api-caller.ts";
import { listLedgerViolations } from "../support/check-ledger.ts";
import { createTestTenant, TOKEN_REQUEST } from "../support/tenants.ts";
import { until } from "../support/until.ts";

let environment: PricedInstallation;
beforeAll(async () => {
  environment = await startPricedInstallation();
});
afterAll(() => environment?.stop());
afterEach(async () => {
  expect(await listLedgerViolations(environment)).toEqual([]);
});

const JSON_ONLY = { accept: "application/json" };
const createTenant = () => createTestTenant(environment);
const issueToken = async (key: string, more: object) => {
  const { body } = await createHttpCaller({ ...environment, key }).post("/tokens", { ...TOKEN_REQUEST, ...more });
  return createHttpCaller({ ...environment, key: body.access_token });
};

it("the runs of a token count for its end user, its customer and its tags, whose limits refuse them", async () => {
  const tenant = await createTenant();
  const { body: limit } = await tenant.caller.post("/budgets", {
    ...{ of: { customer: "acme" }, spend_per_day: 2 * PRICE, alert_at: [0.5, 1] },
  });
  await tenant.caller.post("/budgets", { of: { end_user: "*" }, spend_per_month: 1 });
  const visitor = await issueToken(tenant.key, { end_user: "ann", customer: "acme", tags: ["feature:lamp"] });
  const { last_id } = (await tenant.caller.get("/events", JSON_ONLY)).body;
  const { body: run } = await visitor.post("/runs/generate", { ...ORDER, sync: true });
  expect([run.status, run.end_user, run.customer]).toEqual(["completed", "ann", "acme"]);
  expect((await tenant.caller.get(`/runs/${run.run_id}`)).body).toMatchObject({
    customer: "acme",
    tags: ["feature:lamp"],
  });
  // The holder of the token cannot let others pay.
  const foreign = await visitor.post("/runs/generate", { ...ORDER, customer: "other" });
  expect([foreign.status, foreign.body.details.reason]).toEqual([403, "customer"]);
  expect((await visitor.get("/budgets")).status).toBe(403);
  const key = await tenant.caller.post("/runs/generate", { ...ORDER, customer: "acme", sync: true });
  expect(key.body.cost.amount).toBe(PRICE);
  const refused = await visitor.post("/runs/generate", ORDER);
  expect([refused.status, refused.body.code, refused.body.details]).toMatchObject([
    ...[402, "spend_limit_reached"],
    { limit: "day", of: "customer", value: "acme" },
  ]);
  expect((await tenant.caller.get(`/budgets/${limit.id}`)).body).toMatchObject({
    ...{ of: { customer: "acme" }, day: { limit: 2 * PRICE, used: 2 * PRICE }, alert_at: [0.5, 1] },
  });
  const { data } = (await tenant.caller.get("/budgets?end_user=ann")).body;
  expect(data).toMatchObject([{ of: { end_user: "ann" }, month: { used: PRICE }, template_id: expect.any(String) }]);
  const listTypes = async () => {
    const { body } = await tenant.caller.get(
      `/events?types=budget.warning&types=budget.reached&after=${last_id}`,
      JSON_ONLY,
    );
    return body.data.map(({ type }: { type: string }) => type);
  };
  await until(async () => (await listTypes()).length >= 2);
  expect(await listTypes()).toEqual(["budget.warning", "budget.reached"]);
});

it("usage, lists and repeated runs know whom a run counts for", async () => {
  const tenant = await createTenant();
  const named = { customer: "acme", end_user: "ann", tags: ["a", "b"] };
  const { body: run } = await tenant.caller.post("/runs/generate", { ...ORDER, ...named, sync: true });
  expect(run.given).toMatchObject(named);
  const again = await tenant.caller.post(`/runs/${run.run_id}/rerun`, { changes: { tags: ["a"] }, sync: true });
  expect(again.body).toMatchObject({ status: "completed", customer: "acme", end_user: "ann" });
  await tenant.caller.post("/runs/generate", { ...ORDER, customer: "other", sync: true });
  const usage = async (by: string) => (await tenant.caller.get(`/usage?by=${by}`)).body;
  expect((await usage("customer")).data).toMatchObject([
    { customer: "acme", runs: 2, amount: 2 * PRICE },
    { customer: "other", runs: 1, amount: PRICE },
  ]);
  expect((await usage("tag,model")).data).toMatchObject([
    { tag: "a", runs: 2 },
    { tag: "b", runs: 1 },
  ]);
  expect((await usage("customer,key")).details.errors[0].path).toBe("/by");
  const listed = (await tenant.caller.get("/runs?customer=acme")).body.data;
  expect(listed.map(({ run_id }: { run_id: string }) => run_id)).toEqual([again.body.run_id, run.run_id]);
});
