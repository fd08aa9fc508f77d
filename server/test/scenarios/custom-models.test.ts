// Custom models between tenants in a running Gesso: who can use a model, grants that end while runs wait, and malicious
// names. The providers are the fake ComfyUI, whose ledger shows every job, and the sandbox.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FakeComfyui, poolEnv, startFakeComfyui } from "../fake-vendors/comfyui.ts";
import { type ApiResponse, readSandboxLedger } from "../support/api-caller.ts";
import { insertTestModel } from "../support/custom-models.ts";
import { createTestTenant, type TestTenant } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const RUNS = 100;
const SIZE = { width: 64, height: 64 };
const WAN = { prompt: "[sandbox:delay=0] a hill", model_type: "wan-image-2.1", ...SIZE };

const folder = mkdtempSync(join(tmpdir(), "gesso-custom-models-"));
const GESSO_CONFIG = join(folder, "gesso.yaml");
const PRICE = 0.5;

let comfyui: FakeComfyui;
let environment: TestEnvironment;
let [ann, bob, otherTenant] = [] as unknown as [TestTenant, TestTenant, TestTenant];

beforeAll(async () => {
  comfyui = await startFakeComfyui();
  // Jobs with a price, so that a cost of zero is significant.
  writeFileSync(GESSO_CONFIG, `models:\n  wan-image-2.1:\n    - { provider: comfyui, price: ${PRICE}, per: call }\n`);
  // As an operator runs it: no LoRA is free.
  const env = { ...poolEnv([comfyui]), LORA_NAMES: "house-style,once-style", GESSO_CONFIG };
  environment = await startTestEnvironment({ roles: "split", env });
  ann = await createTestTenant(environment, { user_id: "ann" });
  bob = await createTestTenant(environment, { tenantId: ann.tenant_id, user_id: "bob", role: "developer" });
  otherTenant = await createTestTenant(environment, { user_id: "eve" });
});
afterAll(async () => {
  await environment?.stop();
  await comfyui?.close();
  rmSync(folder, { recursive: true, force: true });
});

const modelOfAnn = (about = {}) =>
  insertTestModel(environment, { tenant_id: ann.tenant_id, owner: "ann", deployment_id: `ink-${v7()}`, ...about });
const uses = async ({ caller }: TestTenant, model_id: string) =>
  (await caller.generate({ ...WAN, model_id })).status === 202;
const withoutRequest = ({ status, body }: ApiResponse) =>
  JSON.stringify({ status, body }).replaceAll(body.details.request_id, "");

describe("access to a model", () => {
  const whoUses = async (model_id: string) =>
    Promise.all([ann, bob, otherTenant].map((who) => uses(who, model_id))).then((all) => all.map(Number).join(""));

  it("private: its owner; tenant: all members; public: every tenant", async () => {
    expect(await whoUses(await modelOfAnn())).toBe("100");
    expect(await whoUses(await modelOfAnn({ visibility: "tenant" }))).toBe("110");
    expect(await whoUses(await modelOfAnn({ visibility: "public" }))).toBe("111");
  });

  it("granted: the user or the tenant of the grant, until it is revoked", async () => {
    const model_id = await modelOfAnn();
    const grants = `/models/${model_id}/grants`;
    expect((await ann.caller.post(grants, { user_id: "bob" })).status).toBe(201);
    expect(await whoUses(model_id)).toBe("110");
    expect((await ann.caller.post(grants, { tenant_id: otherTenant.tenant_id })).status).toBe(201);
    expect(await whoUses(model_id)).toBe("111");
    expect((await ann.caller.delete(`${grants}?tenant_id=${otherTenant.tenant_id}`)).status).toBe(200);
    expect(await whoUses(model_id)).toBe("110");
    const again = await ann.caller.delete(`${grants}?tenant_id=${otherTenant.tenant_id}`);
    expect([again.status, again.body.details.errors]).toMatchObject([400, [{ path: "/tenant_id" }]]);
  });

  it("a model without access gets byte for byte the response of a model that does not exist, on every route", async () => {
    const model_id = await modelOfAnn();
    const nowhere = v7();
    const requests = [
      (id: string) => otherTenant.caller.generate({ ...WAN, model_id: id }),
      (id: string) => otherTenant.caller.get(`/models/${id}`),
      (id: string) => otherTenant.caller.send("PATCH", `/api/v1/models/${id}`, { body: { name: "mine" } }),
      (id: string) => otherTenant.caller.delete(`/models/${id}`),
      (id: string) => otherTenant.caller.get(`/models/${id}/grants`),
      (id: string) => otherTenant.caller.post(`/models/${id}/grants`, { user_id: "eve" }),
      (id: string) => otherTenant.caller.delete(`/models/${id}/grants?user_id=eve`),
    ];
    for (const ask of requests) {
      const [hidden, absent] = [await ask(model_id), await ask(nowhere)];
      expect([hidden.status, hidden.body.code]).toEqual([404, "model_not_found"]);
      expect(withoutRequest(hidden)).toBe(withoutRequest(absent));
      expect(hidden.bytes).toHaveLength(absent.bytes.length);
    }
    expect((await ann.caller.get(`/models/${model_id}`)).body.name).toBe("Ink");
  });

  it("users of a foreign model cannot change it, grant it, or read its grants", async () => {
    const model_id = await modelOfAnn({ visibility: "public" });
    for (const { caller } of [bob, otherTenant]) {
      const responses = [
        await caller.send("PATCH", `/api/v1/models/${model_id}`, { body: { visibility: "private" } }),
        await caller.delete(`/models/${model_id}`),
        await caller.get(`/models/${model_id}/grants`),
        await caller.post(`/models/${model_id}/grants`, { user_id: "eve" }),
      ];
      expect(responses.map(({ status, body }) => `${status} ${body.code}`)).toEqual(
        responses.map(() => "403 permission_denied"),
      );
    }
  });
});

describe("an Idempotency-Key", () => {
  it("creates one model and one grant, and is refused with another input", async () => {
    const draft = { name: "once", model_type: "flux-dev", deployment_id: "once-style" };
    const once = async (path: string, body: object, key: string) => {
      const { status, headers, body: response } = await ann.caller.post(path, body, { "idempotency-key": key });
      return {
        status,
        id: response.grant_id ?? response.model_id,
        isReplay: headers.get("idempotent-replayed") === "true",
      };
    };
    const keys = [v7(), v7()] as const;
    const first = await once("/models", draft, keys[0]);
    expect(await once("/models", draft, keys[0])).toEqual({ ...first, isReplay: true });
    expect((await once("/models", { ...draft, name: "twice" }, keys[0])).status).toBe(422);
    const grants = `/models/${first.id}/grants`;
    const given = await once(grants, { user_id: "bob" }, keys[1]);
    expect(await once(grants, { user_id: "bob" }, keys[1])).toEqual({ ...given, isReplay: true });
    expect((await once(grants, { user_id: "eve" }, keys[1])).status).toBe(422);
    expect((await ann.caller.get(grants)).body.data).toHaveLength(1);
  });
});

describe("access that ends while runs wait", () => {
  it(`fails all ${RUNS} of them with model_not_found, asks no vendor, and costs nothing`, async () => {
    const loras = ["revoked", "deleted", "kept"].map((name) => `${name}-${v7()}`);
    const models = await Promise.all(loras.map((deployment_id) => modelOfAnn({ deployment_id })));
    const [revoked, deleted, stored] = models as [string, string, string];
    for (const model_id of [revoked, stored]) await ann.caller.post(`/models/${model_id}/grants`, { user_id: "bob" });
    await environment.kill("worker");
    const queue = async (who: TestTenant, model_id: string, count: number) => {
      const responses = await Promise.all(
        Array.from({ length: count }, () => who.caller.generate({ ...WAN, model_id })),
      );
      expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 202));
      return responses.map(({ body }) => body.run_id as string);
    };
    const lost = [...(await queue(bob, revoked, RUNS - 10)), ...(await queue(ann, deleted, 10))];
    const going = await queue(bob, stored, 3);
    expect((await ann.caller.delete(`/models/${revoked}/grants?user_id=bob`)).status).toBe(200);
    expect((await ann.caller.delete(`/models/${deleted}`)).status).toBe(200);
    await environment.start("worker");

    const ends = await Promise.all(lost.map((run_id) => ann.caller.waitUntilEnded(run_id)));
    expect(ends.map(({ status, error }) => `${status} ${error?.code}`)).toEqual(
      lost.map(() => "failed model_not_found"),
    );
    expect(ends.filter(({ cost, attempts }) => cost !== null || attempts.length > 0)).toEqual([]);
    const well = await Promise.all(going.map((run_id) => bob.caller.waitUntilEnded(run_id)));
    expect(well.map(({ status, cost }) => `${status} ${cost?.amount}`)).toEqual(going.map(() => `completed ${PRICE}`));
    const booked = [...comfyui.ledger, ...(await readSandboxLedger(environment))].map((entry) => JSON.stringify(entry));
    const sent = loras.map((lora) => booked.filter((entry) => entry.includes(lora)).length);
    expect(sent).toEqual([0, 0, going.length]);
  });
});

describe("names of LoRAs", () => {
  const FIELDS = ["lora_low_name", "lora_high_name", "lora_1"] as const;
  const NOT_NAMES = [
    ...["../x", "..", ".", "../../etc/passwd", "/abs", "/etc/passwd", "./x", "x/../y", "x/y", "a//b", "~/x", "~root"],
    ...["..%2f", "..%2fx", "%2e%2e%2fx", "%2e%2e/x", "..%252fx", "%00", "x%00.safetensors", "..%c0%af"],
    ...["\\x", "..\\x", "C:\\x", "C:x", "\\\\host\\share", "x\\..\\y"],
    ...["\0", "x\0", "x\0.safetensors", "x\n", "x\r\ny", "\tx", " x", "x ", "x y", ""],
    ...["x\u2215y", "\u2044x", "\uff0fetc", "..\u2216x", "x\u202ey", "\u200bx", "e\u0301", "ü", "\ufeffx"],
    ...[".SAFETENSORS", ".safetensors", ".hidden", "-x", "_x", "$HOME", "`id`", "x;y", "x|y", "{x}", "x*", "?x"],
    ...["http://host/x", "file:///etc/passwd", "s3://bucket/x", "x:y", "x@y", "x".repeat(129)],
  ];

  it("are rejected in each field, and reach no provider", async () => {
    expect(NOT_NAMES.length).toBeGreaterThanOrEqual(60);
    const secret = `face-${v7()}`;
    await modelOfAnn({ deployment_id: secret, model_type: "wan-image-2.2" });
    const foreign = [secret, `${secret}.safetensors`, secret.toUpperCase(), `${secret}.SAFETENSORS`];
    const nobodys = ["unknown-lora", "x.SAFETENSORS", "x".repeat(128), "lora..name"];
    const model_id = await insertTestModel(environment, {
      ...{ tenant_id: otherTenant.tenant_id, owner: "eve", model_type: "wan-image-2.2", deployment_id: `own-${v7()}` },
    });
    const input = comfyui.ledger.length + (await readSandboxLedger(environment)).length;
    for (const field of FIELDS) {
      const fitting =
        field === "lora_1"
          ? { model_type: "qwen-image-edit" }
          : { model_type: "wan-image-2.2", model_id, lora_low_name: "house-style", lora_high_name: "house-style" };
      const ask = (name: string) =>
        otherTenant.caller.generate({ prompt: "x", ...SIZE, ...fitting, [field]: name }).then(({ status, body }) => ({
          ...{ name, is: `${status} ${body.code}` },
        }));
      const is = (expected: string) => (name: string) => ({ name, is: expected });
      expect(await Promise.all(NOT_NAMES.map(ask))).toEqual(NOT_NAMES.map(is("400 validation_error")));
      const unknown = [...foreign, ...nobodys];
      expect(await Promise.all(unknown.map(ask))).toEqual(unknown.map(is("404 model_not_found")));
      expect((await ask("House-Style.safetensors")).is).toBe("202 undefined");
    }
    // The three accepted runs are all that a provider received.
    await expect
      .poll(async () => comfyui.ledger.length + (await readSandboxLedger(environment)).length - input, {
        timeout: 30_000,
      })
      .toBe(FIELDS.length);
    const seen = JSON.stringify([comfyui.ledger, await readSandboxLedger(environment)]);
    for (const name of [...foreign, ...nobodys]) expect(seen).not.toContain(`"${name}`);
  });

  it("are rejected as deployments too, and so are names of another tenant", async () => {
    const secret = `face-${v7()}`;
    await modelOfAnn({ deployment_id: secret });
    const register = (who: TestTenant, deployment_id: string) =>
      who.caller.post("/models", { name: "x", model_type: "wan-image-2.1", deployment_id });
    for (const name of NOT_NAMES) expect([name, (await register(otherTenant, name)).status]).toEqual([name, 400]);
    // The same response for a name that is not on the list and for one of another tenant.
    const [hidden, unlisted] = [await register(otherTenant, secret), await register(otherTenant, `face-${v7()}`)];
    expect([hidden.status, hidden.body.details.errors]).toMatchObject([400, [{ path: "/deployment_id" }]]);
    expect(withoutRequest(hidden)).toBe(withoutRequest(unlisted));
    expect((await register(otherTenant, "house-style")).status).toBe(201);
    const operator = await createTestTenant(environment, { user_id: "op", scopes: ["*", "tenants:*"] });
    expect((await register(operator, `new-${v7()}`)).status).toBe(201);
    const everybodys = { name: "x", model_type: "flux-dev", deployment_id: "house-style", visibility: "public" };
    const refused = await otherTenant.caller.post("/models", everybodys);
    expect([refused.status, refused.body.code]).toEqual([403, "permission_denied"]);
  });
});
