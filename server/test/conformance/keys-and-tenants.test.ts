// Keys, tokens and tenants, as far as the checklist covers them.
import { decodeJwt } from "jose";
import { beforeAll, describe, expect } from "vitest";
import { createHttpCaller } from "../support/api-caller.ts";
import { createTestTenant, type TestTenant, TOKEN_REQUEST } from "../support/tenants.ts";
import { it } from "./http-and-client.ts";
import {
  envelopeSuccess,
  fetchContractOperations,
  runRequests,
  sendRun,
  statusAndCode,
  UNKNOWN_ID,
} from "./run-requests.ts";
import { useSuite } from "./suite.ts";

const suite = useSuite({ isOperator: true });
const bearing = (key: string) => suite.callerWith(key);
const withoutRequest = ({ status, body }: { status: number; body: any }) =>
  JSON.stringify([status, body]).replaceAll(body.details?.request_id ?? "-", "");
let otherTenant: TestTenant;
/** Minted before the other tests, so that it expires while they run. */
let shortToken: string;
beforeAll(async () => {
  const minted = await suite.caller.post("/tokens", { end_user: "ada", scopes: ["runs:read"], expires_in: 1 });
  shortToken = minted.body.access_token;
  expect([minted.body.expires_in, (await bearing(shortToken).get("/runs")).status]).toEqual([1, 200]);
  otherTenant = await createTestTenant(suite.environment, { user_id: "other-user" });
});
const image = async () => Buffer.from(await (await fetch(suite.imageUrl())).arrayBuffer());
const foreignRun = async (): Promise<string> =>
  (await otherTenant.caller.post("/upload", suite.form({ file: await image() }))).body.data.run_id;

describe("an API key", () => {
  it("[AUT-006] gets the same response whether it is malformed, unknown or revoked", async () => {
    const { key, key_id } = await createTestTenant(suite.environment);
    await suite.environment.query("update api_keys set revoked_at = now() where key_id = $1", [key_id]);
    const responses = await Promise.all(
      ["nonsense", `gsk_${"0".repeat(46)}`, key].map((each) => bearing(each).get("/runs")),
    );
    for (const response of responses) expect(statusAndCode(response)).toEqual([401, "invalid_api_key"]);
    expect(new Set(responses.map(({ body }) => body.message)).size).toBe(1);
  });

  it("[AUT-007] [AUT-009] has one format, and is only in the response that creates it", async () => {
    const { body, status } = await suite.caller.post("/keys", { name: "a key", scopes: ["runs:read"] });
    expect([status, body.key]).toEqual([201, expect.stringMatching(/^gsk_[0-9A-Za-z]{46}$/)]);
    const later = [await suite.caller.get(`/keys/${body.id}`), await suite.caller.get("/keys")];
    for (const response of later) {
      expect(response.status).toBe(200);
      expect(JSON.stringify(response.body)).not.toContain(body.key);
    }
  });

  it("[AUT-010] works at once, and no more when it was revoked", async () => {
    const { body } = await suite.caller.post("/keys", { name: "short", scopes: ["runs:read"] });
    expect((await bearing(body.key).get("/runs")).status).toBe(200);
    expect((await suite.caller.delete(`/keys/${body.id}`)).status).toBe(200);
    expect(statusAndCode(await bearing(body.key).get("/runs"))).toEqual([401, "invalid_api_key"]);
  });
});

describe("a minted token", () => {
  it("[AUT-015] [AUT-021] is a Bearer that works at other operations, with what it was given", async () => {
    const { body, status } = await suite.caller.post("/tokens", {
      end_user: "ada",
      scopes: ["runs:read"],
      expires_in: 60,
    });
    expect([status, body]).toEqual([
      201,
      { access_token: expect.any(String), token_type: "Bearer", expires_in: 60, scope: "runs:read" },
    ]);
    expect((await bearing(body.access_token).get("/runs")).status).toBe(200);
    expect(statusAndCode(await bearing(body.access_token).generate({ prompt: "x" }))).toEqual([
      403,
      "insufficient_scope",
    ]);
  });

  it("[LIM-052] [LIM-053] works for 15 minutes, or as long as requested up to a day, and never longer", async () => {
    const lifeOf = async (wish: object) => {
      const { body } = await suite.caller.post("/tokens", { ...TOKEN_REQUEST, ...wish });
      const { iat = 0, exp = 0 } = decodeJwt(body.access_token);
      expect(body.expires_in).toBe(exp - iat);
      return exp - iat;
    };
    expect(await lifeOf({})).toBe(900);
    expect(await lifeOf({ expires_in: 86_400 })).toBe(86_400);
    expect(statusAndCode(await suite.caller.post("/tokens", { ...TOKEN_REQUEST, expires_in: 86_401 }))).toEqual([
      400,
      "validation_error",
    ]);
    const expires_at = new Date(Date.now() + 3600_000);
    const short = await createTestTenant(suite.environment, { expires_at });
    const { body } = await short.caller.post("/tokens", { ...TOKEN_REQUEST, expires_in: 86_400 });
    expect(decodeJwt(body.access_token).exp! * 1000).toBeLessThanOrEqual(expires_at.getTime());
  });

  it("is valid for its origin only, cannot create keys or tokens, and expires with its key", async () => {
    const made = (await suite.caller.post("/keys", { name: "page", scopes: ["*"] })).body;
    const mint = async (wish: object) =>
      (await bearing(made.key).post("/tokens", { ...TOKEN_REQUEST, ...wish })).body.access_token;
    const [bound, free] = [await mint({ origin: "https://app.example" }), await mint({})];
    const from = (origin: string) => bearing(bound).get("/runs", { origin });
    expect((await from("https://app.example")).status).toBe(200);
    expect(statusAndCode(await from("https://evil.example"))).toEqual([401, "invalid_token"]);
    expect(statusAndCode(await bearing(bound).get("/runs"))).toEqual([401, "invalid_token"]);
    expect(statusAndCode(await bearing(free).post("/keys", { name: "x", scopes: ["runs:read"] }))).toEqual([
      403,
      "insufficient_scope",
    ]);
    expect(statusAndCode(await bearing(free).post("/tokens", TOKEN_REQUEST))).toEqual([403, "insufficient_scope"]);
    for (const scope of [
      "tenants:*",
      "audit:read",
      "members:read",
      "keys:write",
      "tokens:*",
      "webhooks:read",
      "usage:read",
      "*",
      "*:read",
    ]) {
      const refused = await bearing(made.key).post("/tokens", { end_user: "ada", scopes: [scope] });
      expect(statusAndCode(refused), scope).toEqual([400, "validation_error"]);
      expect(refused.body.details.errors[0].message).toContain(`${scope} is no scope of access tokens`);
    }
    for (const incomplete of [
      {},
      { end_user: "ada" },
      { scopes: ["runs:read"] },
      { end_user: "", scopes: ["runs:read"] },
    ])
      expect(statusAndCode(await bearing(made.key).post("/tokens", incomplete))).toEqual([400, "validation_error"]);
    for (const end_user of ["a".repeat(129), "line\nbreak", "zero\u0000", "hidden\u200b"])
      expect(statusAndCode(await bearing(made.key).post("/tokens", { ...TOKEN_REQUEST, end_user }))).toEqual([
        ...[400, "validation_error"],
      ]);
    await suite.caller.delete(`/keys/${made.id}`);
    expect(statusAndCode(await bearing(free).get("/runs"))).toEqual([401, "invalid_token"]);
  });
});

describe("tenants", () => {
  it("[GNL-043] keys, tokens, usage and tenants are known paths", async () => {
    for (const [method, path] of [
      ["GET", "/keys"],
      ["POST", "/tokens"],
      ["GET", "/usage"],
      ["GET", "/tenants"],
    ]) {
      const { body } = await createHttpCaller(suite.environment).send(
        method!,
        `/api/v1${path}`,
        method === "POST" ? { body: TOKEN_REQUEST } : {},
      );
      expect([path, body.code]).toEqual([path, undefined]);
      const other = await createHttpCaller(suite.environment).send("PUT", `/api/v1${path}`);
      expect([path, other.body.code]).toEqual([path, "method_not_allowed"]);
    }
  });

  it("[GNL-035] share an Idempotency-Key with no other tenant and no other API key, except one that replaces it", async () => {
    const header = { "idempotency-key": `shared-${Date.now()}` };
    const fields = { prompt: "[sandbox:delay=0] a door", width: 64, height: 64 };
    const [one, two] = [await createTestTenant(suite.environment), await createTestTenant(suite.environment)];
    const again = await createTestTenant(suite.environment, { tenantId: one.tenant_id });
    const first = await one.caller.generate(fields, header);
    const rotated = (await again.caller.post(`/keys/${one.key_id}/rotate`, {})).body;
    for (const key of [one.key, rotated.key]) {
      const same = await bearing(key).generate(fields, header);
      expect([same.body.run_id, same.headers.get("idempotent-replayed")]).toEqual([first.body.run_id, "true"]);
    }
    const others = [await again.caller.generate(fields, header), await two.caller.generate(fields, header)];
    for (const other of others) expect([other.status, other.headers.get("idempotent-replayed")]).toEqual([202, null]);
    expect(new Set([first, ...others].map(({ body }) => body.run_id)).size).toBe(3);
  });

  it("[RUN-024] list only their own runs, newest first", async () => {
    const theirs = await foreignRun();
    const mine = [await suite.uploadImage(), await suite.uploadImage()];
    const { body, status } = await suite.caller.get("/runs?limit=100");
    const ids = body.data.map((run: any) => run.run_id);
    expect([status, ids.slice(0, 2)]).toEqual([200, mine.toReversed()]);
    expect(ids).not.toContain(theirs);
    expect(body).toHaveProperty("next_cursor");
  });

  it("[RUN-028] accept no cursor that was changed, created for other filters, or another tenant's", async () => {
    await Promise.all([foreignRun(), foreignRun(), suite.uploadImage(), suite.uploadImage()]);
    const theirs = (await otherTenant.caller.get("/runs?limit=1")).body.next_cursor;
    const { next_cursor: own } = (await suite.caller.get("/runs?limit=1")).body;
    const changed = `${own.slice(0, -3)}${own.at(-3) === "A" ? "B" : "A"}${own.slice(-2)}`;
    for (const wrong of [`cursor=${changed}`, `cursor=${own}&status=failed`, `cursor=${theirs}`]) {
      expect([wrong, ...statusAndCode(await suite.caller.get(`/runs?limit=1&${wrong}`))]).toEqual([
        wrong,
        400,
        "invalid_cursor",
      ]);
    }
    expect((await suite.caller.get(`/runs?limit=1&cursor=${own}`)).status).toBe(200);
  });

  it("get the same response for another tenant's run as for a run that does not exist", async () => {
    const theirs = await foreignRun();
    const requests = [
      (id: string) => suite.caller.get(`/runs/${id}`),
      (id: string) => suite.caller.post(`/runs/${id}/cancel`),
      (id: string) => suite.caller.delete(`/runs/${id}`),
      (id: string) => suite.caller.get(`/runs/${id}/layers`),
      (id: string) => suite.caller.get(`/runs/${id}/tree`),
    ];
    for (const ask of requests) {
      const response = await ask(theirs);
      expect(statusAndCode(response)).toEqual([404, "run_not_found"]);
      expect(withoutRequest(response)).toBe(withoutRequest(await ask(UNKNOWN_ID)));
    }
    expect((await otherTenant.caller.get(`/runs/${theirs}`)).status).toBe(200);
  });

  it("[RUN-039] create no run from another tenant's or an unknown run, in any field that accepts one", async () => {
    const theirs = await foreignRun();
    const own = await suite.uploadImage();
    const count = async () =>
      (
        await suite.environment.query("select count(*)::int as n from runs where tenant_id = $1", [
          suite.environment.tenantId,
        ])
      )[0]!.n;
    for (const request of await runRequests(own)) {
      const places = Object.entries(request.fields).filter(([, value]) => JSON.stringify(value).includes(own));
      for (const [field, value] of places) {
        for (const id of [theirs, UNKNOWN_ID]) {
          const before = await count();
          const wrong = JSON.parse(JSON.stringify(value).replaceAll(own, id));
          const response = await sendRun(suite, request, { [field]: wrong });
          expect([request.name, field, ...statusAndCode(response)]).toEqual([
            request.name,
            field,
            404,
            "run_not_found",
          ]);
          expect(await count()).toBe(before);
        }
      }
    }
  });

  it("[UPL-010] keep no image below another's run", async () => {
    const theirs = await foreignRun();
    const count = async () =>
      (
        await suite.environment.query("select count(*)::int as n from assets where tenant_id = $1", [
          suite.environment.tenantId,
        ])
      )[0]!.n;
    const before = await count();
    const file = await image();
    for (const parent_id of [theirs, UNKNOWN_ID]) {
      const response = await suite.caller.post("/upload", suite.form({ file, parent_id }));
      expect([...statusAndCode(response), envelopeSuccess(response)]).toEqual([404, "run_not_found", false]);
    }
    expect(await count()).toBe(before);
  });

  it("[VID-014] make no video of another's image", async () => {
    for (const source_run_id of [await foreignRun(), UNKNOWN_ID]) {
      const response = await suite.caller.post("/runs/video", { prompt: "waves", source_run_id });
      expect(statusAndCode(response)).toEqual([404, "run_not_found"]);
      if (!response.isClientError)
        expect(response.body).toMatchObject({ status: "failed", error: { code: "run_not_found" } });
    }
  });

  it("reject every request without a credential", async () => {
    for (const { method, path } of await fetchContractOperations(suite)) {
      const response = await fetch(`${suite.environment.url}${path}`, { method });
      expect([path, response.status]).toEqual([path, 401]);
    }
  });
});

it("[AUT-021] a minted token does not work after it has expired", async () => {
  const response = async () => statusAndCode(await bearing(shortToken).get("/runs"));
  // A few seconds are allowed to clocks that differ.
  await expect.poll(response, { interval: 200 }).toEqual([401, "token_expired"]);
});
