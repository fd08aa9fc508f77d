// The registry's rows: the one rule of who may use what, whose a LoRA is, and what happens when two register it at
// once.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import {
  deleteCustomModel,
  findCustomModel,
  findModelAccess,
  insertCustomModel,
  listCustomModels,
  type ModelManager,
  type NewCustomModel,
  normalizeLoraName,
  updateCustomModel,
} from "./custom-models.ts";
import { deleteModelGrantRow, insertModelGrant, listModelGrantRows } from "./model-grants.ts";

let base: TestDatabase;
beforeAll(async () => {
  base = await startTestDatabase();
});
afterAll(() => base?.stop());

const newManager = (about: Partial<ModelManager> = {}): ModelManager => ({
  ...{ tenant_id: v7(), user_id: "ann", key_id: null, isAdmin: false, isOperator: false },
  ...about,
});
const draft = (about: Partial<NewCustomModel> = {}): NewCustomModel => ({
  ...{ model_id: v7(), name: "Ink", model_type: "wan-image-2.1", deployment_id: `lora-${v7()}`, trigger_word: null },
  ...{ description: null, preview_image_url: null, visibility: "private", ...about },
});
const register = async (keeper: ModelManager, about: Partial<NewCustomModel> = {}) =>
  (await insertCustomModel(base.db, keeper, draft(about))).row!;
/** By every door that there is: they never differ. */
async function mayUse(who: ModelManager, modelId: string): Promise<boolean> {
  const { usable } = await findModelAccess(base.db, who, { modelIds: [modelId], loras: [] });
  const listed = [
    ...(await listCustomModels(base.db, who, { status: "active", granted: false }, 1000)),
    ...(await listCustomModels(base.db, who, { status: "active", granted: true }, 1000)),
  ];
  const byId = usable.some((model) => model.model_id === modelId);
  expect(listed.some((model) => model.model_id === modelId)).toBe(byId);
  return byId;
}

describe("who may use a model", () => {
  const ann = newManager();
  const colleague = { ...ann, user_id: "bob" };
  const otherTenant = newManager();
  const everyone = [ann, colleague, otherTenant];
  const users = async (modelId: string) => {
    const answers = await Promise.all(everyone.map((who) => mayUse(who, modelId)));
    return answers.map((may) => (may ? "yes" : "no")).join(" ");
  };

  it.each([
    ["private", "yes no no"],
    ["tenant", "yes yes no"],
    ["public", "yes yes yes"],
  ] as const)("%s: its owner, a member of its tenant, another tenant: %s", async (visibility, expected) => {
    expect(await users((await register(ann, { visibility })).model_id)).toBe(expected);
  });

  it("a grant is for one user or for a whole tenant only", async () => {
    const { model_id } = await register(ann);
    const give = (tenant_id: string, user_id: string | null) =>
      insertModelGrant(base.db, ann, model_id, { grant_id: v7(), tenant_id, user_id });
    await give(ann.tenant_id, "bob");
    expect(await users(model_id)).toBe("yes yes no");
    await give(otherTenant.tenant_id, null);
    expect(await users(model_id)).toBe("yes yes yes");
    expect(await mayUse({ ...otherTenant, user_id: "anybody" }, model_id)).toBe(true);
    // The same name in another tenant is another person.
    expect(await mayUse(newManager({ user_id: "bob" }), model_id)).toBe(false);
    await deleteModelGrantRow(base.db, ann, model_id, { tenant_id: ann.tenant_id, user_id: "bob" });
    expect(await users(model_id)).toBe("yes no yes");
  });

  it("a grant of another tenant changes no list of models, only the list of such grants", async () => {
    const [giver, receiver] = [newManager(), newManager()];
    const own = (await register(receiver)).model_id;
    const shown = async (granted: boolean) =>
      (await listCustomModels(base.db, receiver, { status: "active", granted }, 1000))
        .filter(({ owner, visibility }) => owner === "ann" && visibility === "private")
        .map(({ model_id }) => model_id);
    const given = (await register(giver)).model_id;
    await insertModelGrant(base.db, giver, given, { grant_id: v7(), tenant_id: receiver.tenant_id, user_id: null });
    expect([await shown(false), await shown(true)]).toEqual([[own], [given]]);
    expect(await mayUse(receiver, given)).toBe(true);
  });

  it("a tenant gives at most 1,000 grants to other tenants, and any number to its own users", async () => {
    const giver = newManager();
    const { model_id } = await register(giver);
    await base.owner.query(
      "test.grants",
      `insert into model_grants (grant_id, model_id, owner_tenant_id, tenant_id)
       select uuidv7(), $1, $2, uuidv7() from generate_series(1, 999)`,
      [model_id, giver.tenant_id],
    );
    const give = async (tenant_id: string, user_id: string | null) =>
      (await insertModelGrant(base.db, giver, model_id, { grant_id: v7(), tenant_id, user_id })) !== undefined;
    expect([await give(v7(), null), await give(v7(), null), await give(giver.tenant_id, "bob")]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it("no user can use a disabled model, and only its managers still see it", async () => {
    const { model_id } = await register(ann, { visibility: "public" });
    await updateCustomModel(base.db, ann, model_id, { status: "disabled" });
    expect(await users(model_id)).toBe("no no no");
    expect(await findCustomModel(base.db, ann, model_id)).toMatchObject({ status: "disabled", may_manage: true });
    expect(await findCustomModel(base.db, colleague, model_id)).toBeUndefined();
    const admin = { ...colleague, isAdmin: true };
    expect(await listCustomModels(base.db, admin, { status: "disabled", granted: false }, 10)).toHaveLength(1);
    expect(await listCustomModels(base.db, otherTenant, { status: "disabled", granted: false }, 10)).toEqual([]);
  });

  it("a model is changed only by its owner and the admins of its tenant, not by its other users", async () => {
    const { model_id } = await register(ann, { visibility: "public" });
    const admin = { ...colleague, isAdmin: true };
    const foreignAdmin = { ...otherTenant, isAdmin: true };
    const to = { grant_id: v7(), tenant_id: v7(), user_id: null };
    for (const who of [colleague, foreignAdmin]) {
      expect(await updateCustomModel(base.db, who, model_id, { name: "mine" })).toBeUndefined();
      expect(await insertModelGrant(base.db, who, model_id, to)).toBeUndefined();
      expect(await listModelGrantRows(base.db, who, model_id, { limit: 10 })).toEqual([]);
      expect(await deleteCustomModel(base.db, who, model_id)).toBeUndefined();
    }
    expect(await updateCustomModel(base.db, admin, model_id, { name: "ours" })).toMatchObject({
      name: "ours",
      owner: "ann",
    });
    expect(await deleteCustomModel(base.db, admin, model_id)).toMatchObject({ model_id });
    expect(await findCustomModel(base.db, ann, model_id)).toBeUndefined();
  });
});

describe("a model", () => {
  it("changes only in what is given, and null takes away", async () => {
    const ann = newManager();
    const { model_id, ...first } = await register(ann, { trigger_word: "ink", description: "lines" });
    const second = await updateCustomModel(base.db, ann, model_id, { description: null, visibility: "tenant" });
    expect(second).toEqual({
      ...{ ...first, model_id, description: null, visibility: "tenant" },
      updated_at: expect.any(Date),
    });
  });

  it("is granted once, however often the grant is made", async () => {
    const ann = newManager();
    const { model_id } = await register(ann);
    const tenant_id = v7();
    const give = () => insertModelGrant(base.db, ann, model_id, { grant_id: v7(), tenant_id, user_id: null });
    const grants = await Promise.all(Array.from({ length: 10 }, give));
    expect(new Set(grants.map((grant) => grant!.grant_id)).size).toBe(1);
    expect(await listModelGrantRows(base.db, ann, model_id, { limit: 10 })).toHaveLength(1);
  });

  it("is made once for a key", async () => {
    const ann = newManager();
    const idempotency = { key: "once", fingerprint: Buffer.from("x"), caller_id: v7() };
    const made = await Promise.all(
      Array.from({ length: 10 }, () => insertCustomModel(base.db, ann, draft({ idempotency }))),
    );
    expect(made.filter(({ row }) => row)).toHaveLength(1);
    expect(made.every(({ ownsLora: isTheirs }) => isTheirs)).toBe(true);
  });
});

describe("a LoRA", () => {
  it("is one name in all its spellings", () => {
    for (const name of ["ink", "Ink", "ink.safetensors", "INK.SAFETENSORS"])
      expect(normalizeLoraName(name)).toBe("ink");
    expect(normalizeLoraName("ink.v2")).toBe("ink.v2");
  });

  it("belongs to the tenant that registered it first, also after the model is deleted; the operator can use any", async () => {
    const [ann, otherTenant] = [newManager(), newManager()];
    const deployment_id = `face-${v7()}`;
    const { model_id } = await register(ann, { deployment_id });
    const spelled = { deployment_id: `${deployment_id.toUpperCase()}.safetensors` };
    for (const who of [otherTenant, { ...ann, user_id: "bob" }]) {
      expect(await insertCustomModel(base.db, who, draft(spelled))).toEqual({ ownsLora: false, row: undefined });
      const own = await register(who);
      expect(await updateCustomModel(base.db, who, own.model_id, spelled)).toBeUndefined();
    }
    expect(await register(ann, spelled)).toBeDefined();
    expect(await register({ ...ann, user_id: "boss", isAdmin: true }, spelled)).toBeDefined();
    await deleteCustomModel(base.db, ann, model_id);
    expect((await insertCustomModel(base.db, otherTenant, draft(spelled))).row).toBeUndefined();
    expect(await register({ ...otherTenant, isOperator: true }, spelled)).toBeDefined();
    const { usable, registered_loras: registered } = await findModelAccess(base.db, newManager(), {
      modelIds: [],
      loras: [deployment_id],
    });
    expect([usable, registered]).toEqual([[], [normalizeLoraName(deployment_id)]]);
  });

  it("has one owner of twenty who register it at once", async () => {
    const deployment_id = `race-${v7()}`;
    const made = await Promise.all(
      Array.from({ length: 20 }, () => insertCustomModel(base.db, newManager(), draft({ deployment_id }))),
    );
    expect(made.filter(({ row }) => row)).toHaveLength(1);
  });
});
