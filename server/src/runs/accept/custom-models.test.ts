// What becomes of a plan that names models: where they run and the word that calls them come from the registry, and a
// name that the caller may not use is no name at all.
import { createHash } from "node:crypto";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { insertTestModel } from "../../../test/support/custom-models.ts";
import { createFakeProviders } from "../../../test/support/fake-providers.ts";
import { buildJobs } from "../../../test/support/operation-plans.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import type { ResourceOwner } from "../../db/access/caller.ts";
import { generateImage } from "../../operations/index.ts";
import { CustomModelsEnv, parseAllowedLoras, recheckCustomModels, resolveCustomModels } from "./custom-models.ts";

let base: TestDatabase;
beforeAll(async () => {
  base = await startTestDatabase();
});
afterAll(() => base?.stop());

const servicesWith = (LORA_NAMES?: string) => ({
  database: base.db,
  loras: parseAllowedLoras(CustomModelsEnv.parse({ LORA_NAMES })),
  providers: createFakeProviders(),
});
const newUser = (): ResourceOwner => ({ tenant_id: v7(), user_id: "ann" });
const nameOf = (text: string) => `test.${createHash("sha1").update(text).digest("hex")}`;
const query = { query: (text: string, values: unknown[] = []) => base.db.query<any>(nameOf(text), text, values) };
const modelOf = ({ tenant_id, user_id }: ResourceOwner, about = {}) =>
  insertTestModel(query, { tenant_id, owner: user_id, ...about });

const wan = (about: object) => ({ prompt: "a hill", model_type: "wan-image-2.1", width: 64, height: 64, ...about });
const resolve = (user: ResourceOwner, raw: object, names?: string) =>
  resolveCustomModels(servicesWith(names), user, buildJobs(generateImage, { ...raw }));
const notFound = expect.objectContaining({ code: "model_not_found", details: {} });

describe("a model by its ID", () => {
  it("carries its deployment name in the plan only", async () => {
    const ann = newUser();
    const model_id = await modelOf(ann, { deployment_id: `ink-${v7()}` });
    const { plan, warnings: notes } = await resolve(ann, wan({ model_id, strength_model: 0.5 }));
    const deployment_id = expect.stringMatching(/^ink-/);
    expect(plan).toEqual([
      {
        ...{ task: "image.generate", model: "wan-image-2.1", prompt: "a hill", width: 64, height: 64, count: 2 },
        options: { model_id, deployment_id, strength_model: 0.5 },
      },
    ]);
    expect(notes).toEqual([]);
  });

  it("gets the same response if it does not exist and if it belongs to another tenant", async () => {
    const foreign = await modelOf(newUser());
    for (const model_id of [v7(), foreign]) {
      await expect(resolve(newUser(), wan({ model_id }))).rejects.toEqual(notFound);
    }
  });

  it("must be for the requested model type", async () => {
    const ann = newUser();
    const model_id = await modelOf(ann, { model_type: "flux-dev" });
    await expect(resolve(ann, wan({ model_id }))).rejects.toMatchObject({
      code: "validation_error",
      details: { errors: [{ path: "/model_id", code: "unknown_value" }] },
    });
    expect((await resolve(ann, { prompt: "a hill", model_id })).plan).toHaveLength(1);
  });

  it("is ignored if the model type does not use one", async () => {
    const { plan } = await resolve(newUser(), { prompt: "a hill", model_type: "vendora", model_id: v7() });
    expect(plan[0]!.options).toBeUndefined();
  });

  it.each([
    ["a hill", "ink style", "ink style, a hill"],
    ["a hill in INK STYLE, dark", "ink style", "a hill in INK STYLE, dark"],
    ["people drinking", "ink", "ink, people drinking"],
    ["(ink:1.2) a hill", "ink", "(ink:1.2) a hill"],
    ["a hill", "c++ [x]", "c++ [x], a hill"],
    ["c++ [x] on a hill", "c++ [x]", "c++ [x] on a hill"],
    ["ein Tüfenhügel", "tüfen", "tüfen, ein Tüfenhügel"],
  ])("%s, called by %s, is requested as: %s", async (prompt, trigger_word, expected) => {
    const ann = newUser();
    const model_id = await modelOf(ann, { trigger_word });
    const { plan, warnings: notes } = await resolve(ann, wan({ model_id, prompt }));
    expect(plan[0]!.prompt).toBe(expected);
    expect(notes).toEqual(
      prompt === expected ? [] : [`The model's trigger word ${trigger_word} was added before the prompt.`],
    );
  });
});

describe("a LoRA by its name", () => {
  const qwen = (lora_1: string) => ({ prompt: "x", model_type: "qwen-image-edit", width: 64, height: 64, lora_1 });
  const isAccepted = (user: ResourceOwner, name: string, names?: string) =>
    resolve(user, qwen(name), names).then(
      () => true,
      (fault) => {
        expect(fault).toEqual(notFound);
        return false;
      },
    );

  it("is refused by default, and accepted if the operator lists it", async () => {
    const ann = newUser();
    expect(await isAccepted(ann, "ink-v1")).toBe(false);
    expect(await isAccepted(ann, "ink-v1", "other")).toBe(false);
    expect(await isAccepted(ann, "ink-v1", "other, ink-v1.safetensors")).toBe(true);
    expect(await isAccepted(ann, "Ink-V1.safetensors", "ink-v1")).toBe(true);
    expect(await isAccepted(ann, "ink-v1", "*")).toBe(true);
  });

  it("that is registered is only for users of its model, even if unregistered names are allowed", async () => {
    const [ann, stranger] = [newUser(), newUser()];
    const name = `face-${v7()}`;
    await modelOf(ann, { deployment_id: name, model_type: "qwen-image-edit" });
    for (const spelling of [name, `${name}.safetensors`, name.toUpperCase()]) {
      expect(await isAccepted(ann, spelling)).toBe(true);
      expect(await isAccepted(stranger, spelling, "*")).toBe(false);
      expect(await isAccepted(stranger, spelling, `*,${name}`)).toBe(true);
    }
  });

  it("needs access to both of its stages", async () => {
    const ann = newUser();
    const model_id = await modelOf(ann, { model_type: "wan-image-2.2" });
    const pair = { model_type: "wan-image-2.2", model_id, lora_low_name: "low", lora_high_name: "high" };
    await expect(resolve(ann, wan(pair), "low")).rejects.toEqual(notFound);
    expect((await resolve(ann, wan(pair), "low,high")).plan[0]!.options).toMatchObject({ lora_low_name: "low" });
  });
});

describe("a run that starts", () => {
  it("is refused if access was revoked, unless something was already sent", async () => {
    const ann = newUser();
    const model_id = await modelOf(ann);
    const { plan } = await resolve(ann, wan({ model_id }));
    const run = { ...ann, run_id: v7(), plan };
    await recheckCustomModels(servicesWith(), run);
    await query.query("delete from models where model_id = $1", [model_id]);
    await expect(recheckCustomModels(servicesWith(), run)).rejects.toEqual(notFound);
    await query.query(
      `insert into attempts (run_id, request_index, attempt_number, idempotency_key, epoch, provider, state, lease_until)
       values ($1, 0, 1, 'sent', 0, 'sandbox', 'submitted', now())`,
      [run.run_id],
    );
    await recheckCustomModels(servicesWith(), run);
  });
});
