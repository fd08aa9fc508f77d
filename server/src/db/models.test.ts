// The registry's rows: the one rule of who may use what, whose a LoRA is, and what happens when two register it at once.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDatabase, type TestDatabase } from "../../test/database.ts";
import { createGrant, deleteGrant, listGrants } from "./model-grants.ts";
import {
  changeModel,
  createModel,
  deleteModel,
  findModel,
  foldLora,
  type Keeper,
  listModels,
  type NewModel,
  standingOf,
} from "./models.ts";

let base: TestDatabase;
beforeAll(async () => {
  base = await startDatabase();
});
afterAll(() => base?.stop());

const somebody = (about: Partial<Keeper> = {}): Keeper => ({
  ...{ tenant_id: v7(), user_id: "ann", isAdmin: false, isOperator: false },
  ...about,
});
const draft = (about: Partial<NewModel> = {}): NewModel => ({
  ...{ model_id: v7(), name: "Ink", model_type: "wan-image-2.1", deployment_id: `lora-${v7()}`, trigger_word: null },
  ...{ description: null, preview_image_url: null, visibility: "private", ...about },
});
const register = async (keeper: Keeper, about: Partial<NewModel> = {}) =>
  (await createModel(base.db, keeper, draft(about))).row!;
/** By every door that there is: they never differ. */
async function mayUse(who: Keeper, modelId: string): Promise<boolean> {
  const { usable } = await standingOf(base.db, who, { modelIds: [modelId], loras: [] });
  const listed = await listModels(base.db, who, { status: "active" }, 1000);
  const byId = usable.some((model) => model.model_id === modelId);
  expect(listed.some((model) => model.model_id === modelId)).toBe(byId);
  return byId;
}

describe("who may use a model", () => {
  const ann = somebody();
  const colleague = { ...ann, user_id: "bob" };
  const stranger = somebody();
  const everyone = [ann, colleague, stranger];
  const users = async (modelId: string) => {
    const answers = await Promise.all(everyone.map((who) => mayUse(who, modelId)));
    return answers.map((may) => (may ? "yes" : "no")).join(" ");
  };

  it.each([
    ["private", "yes no no"],
    ["tenant", "yes yes no"],
    ["public", "yes yes yes"],
  ] as const)("%s: its owner, a colleague, a stranger: %s", async (visibility, expected) => {
    expect(await users((await register(ann, { visibility })).model_id)).toBe(expected);
  });

  it("a grant is for one user, or for a whole tenant, and for nobody else", async () => {
    const { model_id } = await register(ann);
    const give = (tenant_id: string, user_id: string | null) =>
      createGrant(base.db, ann, model_id, { grant_id: v7(), tenant_id, user_id });
    await give(ann.tenant_id, "bob");
    expect(await users(model_id)).toBe("yes yes no");
    await give(stranger.tenant_id, null);
    expect(await users(model_id)).toBe("yes yes yes");
    expect(await mayUse({ ...stranger, user_id: "anybody" }, model_id)).toBe(true);
    // The same name in another tenant is another person.
    expect(await mayUse(somebody({ user_id: "bob" }), model_id)).toBe(false);
    await deleteGrant(base.db, ann, model_id, { tenant_id: ann.tenant_id, user_id: "bob" });
    expect(await users(model_id)).toBe("yes no yes");
  });

  it("nobody may use what is disabled, and only those who manage it still see it", async () => {
    const { model_id } = await register(ann, { visibility: "public" });
    await changeModel(base.db, ann, model_id, { status: "disabled" });
    expect(await users(model_id)).toBe("no no no");
    expect(await findModel(base.db, ann, model_id)).toMatchObject({ status: "disabled", may_manage: true });
    expect(await findModel(base.db, colleague, model_id)).toBeUndefined();
    const admin = { ...colleague, isAdmin: true };
    expect(await listModels(base.db, admin, { status: "disabled" }, 10)).toHaveLength(1);
    expect(await listModels(base.db, stranger, { status: "disabled" }, 10)).toEqual([]);
  });

  it("only its owner and the tenant's own admins may change it, whoever may use it", async () => {
    const { model_id } = await register(ann, { visibility: "public" });
    const admin = { ...colleague, isAdmin: true };
    const foreignAdmin = { ...stranger, isAdmin: true };
    const to = { grant_id: v7(), tenant_id: v7(), user_id: null };
    for (const who of [colleague, foreignAdmin]) {
      expect(await changeModel(base.db, who, model_id, { name: "mine" })).toBeUndefined();
      expect(await createGrant(base.db, who, model_id, to)).toBeUndefined();
      expect(await listGrants(base.db, who, model_id, { limit: 10 })).toEqual([]);
      expect(await deleteModel(base.db, who, model_id)).toBeUndefined();
    }
    expect(await changeModel(base.db, admin, model_id, { name: "ours" })).toMatchObject({ name: "ours", owner: "ann" });
    expect(await deleteModel(base.db, admin, model_id)).toMatchObject({ model_id });
    expect(await findModel(base.db, ann, model_id)).toBeUndefined();
  });
});

describe("a model", () => {
  it("changes only in what is given, and null takes away", async () => {
    const ann = somebody();
    const { model_id, ...first } = await register(ann, { trigger_word: "ink", description: "lines" });
    const second = await changeModel(base.db, ann, model_id, { description: null, visibility: "tenant" });
    expect(second).toEqual({
      ...{ ...first, model_id, description: null, visibility: "tenant" },
      updated_at: expect.any(Date),
    });
  });

  it("is granted once, however often the grant is made", async () => {
    const ann = somebody();
    const { model_id } = await register(ann);
    const tenant_id = v7();
    const give = () => createGrant(base.db, ann, model_id, { grant_id: v7(), tenant_id, user_id: null });
    const grants = await Promise.all(Array.from({ length: 10 }, give));
    expect(new Set(grants.map((grant) => grant!.grant_id)).size).toBe(1);
    expect(await listGrants(base.db, ann, model_id, { limit: 10 })).toHaveLength(1);
  });

  it("is made once for a key", async () => {
    const ann = somebody();
    const idempotency = { key: "once", fingerprint: Buffer.from("x") };
    const made = await Promise.all(Array.from({ length: 10 }, () => createModel(base.db, ann, draft({ idempotency }))));
    expect(made.filter(({ row }) => row)).toHaveLength(1);
    expect(made.every(({ isTheirs }) => isTheirs)).toBe(true);
  });
});

describe("a LoRA", () => {
  it("is one name in all its spellings", () => {
    for (const name of ["ink", "Ink", "ink.safetensors", "INK.SAFETENSORS"]) expect(foldLora(name)).toBe("ink");
    expect(foldLora("ink.v2")).toBe("ink.v2");
  });

  it("belongs to whoever registered it first, also when the model is gone; the operator may use any", async () => {
    const [ann, stranger] = [somebody(), somebody()];
    const deployment_id = `face-${v7()}`;
    const { model_id } = await register(ann, { deployment_id });
    const spelled = { deployment_id: `${deployment_id.toUpperCase()}.safetensors` };
    for (const who of [stranger, { ...ann, user_id: "bob" }]) {
      expect(await createModel(base.db, who, draft(spelled))).toEqual({ isTheirs: false, row: undefined });
      const own = await register(who);
      expect(await changeModel(base.db, who, own.model_id, spelled)).toBeUndefined();
    }
    expect(await register(ann, spelled)).toBeDefined();
    expect(await register({ ...ann, user_id: "boss", isAdmin: true }, spelled)).toBeDefined();
    await deleteModel(base.db, ann, model_id);
    expect((await createModel(base.db, stranger, draft(spelled))).row).toBeUndefined();
    expect(await register({ ...stranger, isOperator: true }, spelled)).toBeDefined();
    const { usable, registered } = await standingOf(base.db, somebody(), { modelIds: [], loras: [deployment_id] });
    expect([usable, registered]).toEqual([[], [foldLora(deployment_id)]]);
  });

  it("has one owner of twenty who register it at once", async () => {
    const deployment_id = `race-${v7()}`;
    const made = await Promise.all(
      Array.from({ length: 20 }, () => createModel(base.db, somebody(), draft({ deployment_id }))),
    );
    expect(made.filter(({ row }) => row)).toHaveLength(1);
  });
});
