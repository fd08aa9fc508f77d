// Conformance: custom models and their grants, models that the operator binds or disables, and what reaches the
// provider. The fake ComfyUI is enabled beside the sandbox, because only its jobs show the custom model.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { v7 } from "uuid";
import { afterAll, describe, expect } from "vitest";
import { poolEnv, startFakeComfyui } from "../fake-vendors/comfyui.ts";
import type { ApiCaller, ApiResponse } from "../support/api-caller.ts";
import { insertTestModel, MODEL_IDS } from "../support/custom-models.ts";
import { createTestTenant } from "../support/tenants.ts";
import { type Body, CUSTOM_MODEL_FIELDS, expectNoNewRun, findSandboxJob } from "./expectations.ts";
import { it } from "./http-and-client.ts";
import { useOwnSuite } from "./suite.ts";

const folder = mkdtempSync(join(tmpdir(), "gesso-models-"));
const GESSO_CONFIG = join(folder, "gesso.yaml");
writeFileSync(
  GESSO_CONFIG,
  `models:
  vendorc:
    - { provider: sandbox, like: flux-dev, as: replay/vendorc, price: 0.5 }
  nanobanana:
    - { provider: sandbox, enabled: off }
`,
);
const comfyui = await startFakeComfyui();
const suite = useOwnSuite({ ...poolEnv([comfyui]), GESSO_CONFIG });
afterAll(async () => {
  await comfyui.close();
  rmSync(folder, { recursive: true, force: true });
});

const WAN = { model_type: "wan-image-2.1", width: 64, height: 64 };
const QWEN = { model_type: "qwen-image-edit", width: 64, height: 64 };
const generate = (body: Body, caller: ApiCaller = suite.caller) => caller.generate({ prompt: "a hill", ...body });
const finished = async (body: Body) => {
  const { status, body: run } = await generate({ sync: true, ...body });
  expect([status, run.status]).toEqual([200, "completed"]);
  return run;
};
/** The job that reached ComfyUI with this prompt: the inputs of each node. */
const graphOf = (prompt: string): Record<string, Record<string, unknown>> => {
  const taken = comfyui.ledger.filter(({ request }) => JSON.stringify(request).includes(prompt));
  expect(taken).toHaveLength(1);
  const nodes = taken[0]!.request.prompt as Record<string, { inputs: Record<string, unknown> }>;
  return Object.fromEntries(Object.entries(nodes).map(([name, { inputs }]) => [name, inputs]));
};
/** Words that no other test has, either way. */
const text = (about: string) => `${about} ${v7()}`;

/** Another user of the same tenant, on the transport of the running test. */
async function colleague(user_id = `user-${v7()}`): Promise<{ user_id: string; caller: ApiCaller }> {
  const of = "00000000-0000-7000-8000-000000000001";
  const { key } = await createTestTenant(suite.environment, { tenantId: of, user_id, role: "developer" });
  return { user_id, caller: suite.callerWith(key) };
}
const create = async (body: Body = {}, caller: ApiCaller = suite.caller): Promise<any> => {
  const draft = { name: "Ink", model_type: "wan-image-2.1", deployment_id: `ink-${v7()}`, ...body };
  const { status, body: model } = await caller.post("/models", draft);
  expect([status, model.code]).toEqual([201, undefined]);
  return model;
};
/** A response without the values that differ between two resources. */
const withoutRequest = ({ status, body }: ApiResponse) =>
  JSON.parse(JSON.stringify({ status, body }).replaceAll(body.details.request_id, ""));

describe("a custom model", () => {
  it("[MOD-037] that exists nowhere is not found", async () => {
    const response = await expectNoNewRun(suite, () => generate({ ...WAN, model_id: v7() }));
    expect([response.status, response.body.code]).toEqual([404, "model_not_found"]);
  });

  it("[MOD-038] of another tenant is not found either, with the same response", async () => {
    const foreign = await insertTestModel(suite.environment, { tenant_id: v7(), visibility: "tenant" });
    const private_ = await insertTestModel(suite.environment, { owner: "somebody" });
    const nowhere = withoutRequest(await generate({ ...WAN, model_id: v7() }));
    for (const model_id of [foreign, private_]) {
      const response = await expectNoNewRun(suite, () => generate({ ...WAN, model_id }));
      expect([response.status, response.body.code]).toEqual([404, "model_not_found"]);
      expect(withoutRequest(response)).toEqual(nowhere);
    }
  });

  it("[MOD-042] is shown with everything that it is", async () => {
    const draft = {
      ...{ name: "Ink drawings", model_type: "wan-image-2.1", deployment_id: "ink-v2", trigger_word: "inkstyle" },
      ...{ description: "Lines", preview_image_url: "https://example.com/ink.png", visibility: "tenant" },
    };
    const made = await create(draft);
    const { status, body } = await suite.caller.get(`/models/${made.model_id}`);
    expect([status, body]).toEqual([200, made]);
    expect(body).toEqual({
      ...{ model_id: expect.stringMatching(/^[0-9a-f-]{36}$/), ...draft, owner: "owner", status: "active" },
      ...{ created_at: expect.any(String), updated_at: expect.any(String) },
    });
    expect((await create()).visibility).toBe("private");
    const response = await suite.caller.post("/models", { ...draft, visibility: "everybody" });
    expect([response.status, response.body.code]).toEqual([400, "validation_error"]);
  });

  it("[MOD-041] is listed only for callers that may use it", async () => {
    const { user_id, caller } = await colleague();
    const [own, ours, granted] = [await create({}, caller), await create({ visibility: "tenant" }), await create()];
    const everybodys = await insertTestModel(suite.environment, { tenant_id: v7(), visibility: "public" });
    await suite.caller.post(`/models/${granted.model_id}/grants`, { user_id });
    const may = [own, ours, granted].map(({ model_id }) => model_id as string).concat(everybodys);
    const disabled = await create({ visibility: "tenant" });
    await suite.caller.send("PATCH", `/api/v1/models/${disabled.model_id}`, { body: { status: "disabled" } });
    const mayNot = [
      ...[disabled.model_id, (await create()).model_id, await insertTestModel(suite.environment, { tenant_id: v7() })],
    ];

    const listed: string[] = [];
    for (let cursor = ""; ; ) {
      const { status, body } = await caller.get(`/models?limit=2${cursor && `&cursor=${cursor}`}`);
      expect(status).toBe(200);
      listed.push(...body.data.map((model: any) => model.model_id));
      if (body.next_cursor === null) break;
      cursor = body.next_cursor;
    }
    expect(listed).toEqual(expect.arrayContaining(may));
    expect(listed.filter((id) => mayNot.includes(id))).toEqual([]);
    expect(new Set(listed).size).toBe(listed.length);
    // What is listed can be used, and what is not listed cannot.
    for (const model_id of may) {
      const { status, body } = await generate({ ...WAN, model_id, prompt: text("listed") }, caller);
      expect([status, body.code]).toEqual([202, undefined]);
    }
    for (const model_id of mayNot) expect((await generate({ ...WAN, model_id }, caller)).status).toBe(404);
  });

  it("[MOD-043] can be used by the granted user as soon as the grant exists, until it is revoked", async () => {
    const { user_id, caller } = await colleague();
    const { model_id } = await create();
    const ask = async () => {
      const { status, body } = await generate({ ...WAN, model_id, prompt: text("granted") }, caller);
      return [status, body.code];
    };
    expect(await ask()).toEqual([404, "model_not_found"]);
    const grant = await suite.caller.post(`/models/${model_id}/grants`, { user_id });
    expect([grant.status, grant.body.user_id]).toEqual([201, user_id]);
    expect(await ask()).toEqual([202, undefined]);
    expect((await suite.caller.get(`/models/${model_id}/grants`)).body.data).toEqual([grant.body]);
    const gone = await suite.caller.delete(`/models/${model_id}/grants?user_id=${user_id}`);
    expect([gone.status, gone.body]).toEqual([200, grant.body]);
    expect(await ask()).toEqual([404, "model_not_found"]);
  });

  it("[GEN-026] of the wan workflow reaches the provider as the LoRA of that name", async () => {
    const deployment_id = `ink-${v7()}`;
    const { model_id } = await create({ deployment_id });
    const prompt = text("a wan hill");
    const run = await finished({ ...WAN, model_id, prompt });
    expect([run.provider, run.warnings, run.inputs.model_id]).toEqual(["comfyui", [], model_id]);
    expect(graphOf(prompt).lora).toMatchObject({ lora_name: `${deployment_id}.safetensors` });
    expect(run.inputs).not.toHaveProperty("deployment_id");
  });
});

describe("a LoRA", () => {
  it("[GEN-020] named by lora_1 is loaded between qwen-image-edit and its sampler, with its strength", async () => {
    const [lora_1, prompt] = [`ink-${v7()}`, text("inked")];
    const run = await finished({ ...QWEN, prompt, lora_1, strength_model: 0.75 });
    expect([run.provider, run.warnings]).toEqual(["comfyui", []]);
    const { lora, shift } = graphOf(prompt);
    expect(lora).toEqual({ model: ["unet", 0], lora_name: `${lora_1}.safetensors`, strength_model: 0.75 });
    expect(shift!.model).toEqual(["lora", 0]);
    const bare = text("not inked");
    await finished({ ...QWEN, prompt: bare });
    expect(graphOf(bare)).not.toHaveProperty("lora");
    expect(graphOf(bare).shift!.model).toEqual(["unet", 0]);
  });
});

describe("defaults", () => {
  it("[MOD-039] that the caller did not set are shown, and not sent to a model that has its own", async () => {
    const prompt = text("defaults");
    const run = await finished({ model_type: "wan-image-2.1", ...CUSTOM_MODEL_FIELDS, prompt });
    expect(run.inputs).toMatchObject({ guidance: 7.5, model_weight: 0.7, strength_model: 1 });
    const { sample, lora } = graphOf(prompt);
    expect([sample!.cfg, lora!.strength_model]).toEqual([6, 1]);
    const other = await finished({ model_type: "flux-kontext-max" });
    expect(other.inputs.guidance).toBe(7.5);
    expect((await findSandboxJob(suite, other.run_id)).request.options ?? {}).toEqual({});
  });

  it("[MOD-040] are out of the way where the caller set a value", async () => {
    const prompt = text("guided");
    await finished({ model_type: "wan-image-2.1", ...CUSTOM_MODEL_FIELDS, prompt, guidance: 3, model_weight: 0.25 });
    const { sample, lora } = graphOf(prompt);
    expect([sample!.cfg, lora!.strength_model]).toEqual([3, 0.25]);
    const other = await finished({
      model_type: "flux-kontext-multi",
      image_urls: [suite.imageUrl("a.png"), suite.imageUrl("b.png")],
      guidance: 4.5,
    });
    expect((await findSandboxJob(suite, other.run_id)).request.options).toEqual({ guidance: 4.5 });
  });
});

describe("model types in the operator's catalogue", () => {
  it("[MOD-033] vendorc is accepted if an offer is bound to it", async () => {
    const run = await finished({ model_type: "vendorc", width: 64, height: 64 });
    expect([run.model, run.provider]).toEqual(["vendorc", "sandbox"]);
    expect((await findSandboxJob(suite, run.run_id)).model).toBe("replay/vendorc");
  });

  it("[MOD-035] a known type without any offer is unavailable, and never an unknown value", async () => {
    const response = await expectNoNewRun(suite, () => generate({ model_type: "nanobanana" }));
    expect([response.status, response.body.code]).toEqual([503, "model_unavailable"]);
    const unknown = await expectNoNewRun(suite, () => generate({ model_type: "nanobanana-2" }));
    expect([unknown.status, unknown.body.code]).toEqual([400, "validation_error"]);
  });
});

it("[GEN-026] a model that is made for another type is refused with its place", async () => {
  const response = await expectNoNewRun(suite, () => generate({ ...WAN, model_id: MODEL_IDS["flux-dev"] }));
  expect([response.status, response.body.code]).toEqual([400, "validation_error"]);
  expect(response.body.details.errors).toMatchObject([{ path: "/model_id", code: "unknown_value" }]);
});
