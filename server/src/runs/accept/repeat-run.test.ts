// Repeating the request of a run, on a real database.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createFakeProvider,
  createRuntime,
  createStepServices,
  createTestProviders,
  TENANT,
} from "../../../test/support/step-fixtures.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import type { RequestContext } from "../../access/request-context.ts";
import { createFilePart } from "../../contract/files.ts";
import type { BodyKind, Operation } from "../../contract/operation.ts";
import { parseInput } from "../../contract/parse.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Caller } from "../../db/access/caller.ts";
import { requestCancellation } from "../../db/runs/open-runs.ts";
import { type RunRow, tombstoneRun } from "../../db/runs/runs.ts";
import { Fault } from "../../faults/faults.ts";
import { type UploadDependencies, uploadFile } from "../../library/upload.ts";
import { generateImage } from "../../operations/images/generate.ts";
import { upscaleImage } from "../../operations/images/upscale.ts";
import { honourAll, UNSUPPORTED } from "../../providers/parameter-support.ts";
import { type AcceptDependencies, acceptRun } from "./accept-run.ts";
import { type RepeatRunRequest, repeatRun } from "./repeat-run.ts";

let database: TestDatabase;
let folder: string;
let services: AcceptDependencies & UploadDependencies;
const caller = {
  ...{ tenant_id: TENANT, user_id: "u", key_id: null, token: null, expires_at: null },
  ...{ role: "developer", scopes: ["*"] },
} as unknown as Caller;

beforeAll(async () => {
  database = await startTestDatabase();
  folder = mkdtempSync(join(tmpdir(), "gesso-repeat-"));
  const offers = [
    { task: "image.generate", model: "flux-dev" } as const,
    { task: "image.upscale", model: "upscale-default" } as const,
  ];
  const fakes = offers.map((offer) =>
    createFakeProvider(offer.task, {
      ...offer,
      parameters: { ...honourAll(offer.task), lora_low_strength: UNSUPPORTED },
    }),
  );
  const parts = { runtime: createRuntime(), providers: createTestProviders(fakes) };
  services = {
    ...createStepServices({ ...parts, database: database.db.forTenant(TENANT) }),
    http: { checkUrl: () => {} },
    notifications: { runQueued: () => {} },
    logExhaustedBudget: () => {},
  } as unknown as AcceptDependencies & UploadDependencies;
});
afterAll(async () => {
  await database?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const create = async (operation: Operation, input: JsonObject, body: BodyKind = "json"): Promise<RunRow> => {
  const parsed = parseInput(operation, input, body);
  return (await acceptRun(services, caller, { operation, parsed, isStrict: false })).row;
};
const generate = (input: JsonObject = {}) => create(generateImage, { prompt: "a lighthouse", ...input });

const repeat = (run_id: string, changes: JsonObject = {}, options: Partial<RepeatRunRequest & { as: Caller }> = {}) => {
  const { as = caller, ...request } = options;
  const identity = { operation: "runs.rerun", input: { run_id, changes } };
  return repeatRun(services, as, { run_id, changes, identity, isStrict: false, ...request });
};
const rowOf = async (...request: Parameters<typeof repeat>) => (await repeat(...request)).row;
const end = async (runId: string) =>
  void (await requestCancellation(database.db, TENANT, runId, new Fault("canceled_by_user").body(), v7()));

const filePart = (content: string) => {
  const path = join(folder, v7());
  writeFileSync(path, content);
  return createFilePart({ path, filename: "a.png", size_bytes: content.length, sha256: v7() });
};

describe("a repeated run", () => {
  it("has the request of the earlier run, without its defaults as values of the caller, and is its child", async () => {
    const original = await generate({ seed: 7, metadata: { order: "4711" } });
    const row = await rowOf(original.run_id);
    expect(row.run_id).not.toBe(original.run_id);
    expect(row).toMatchObject({
      ...{ operation: "images.generate", run_type: original.run_type, status: "queued", inputs: original.inputs },
      ...{ metadata: { order: "4711" }, model: original.model, plan: original.plan },
      ...{ parent_run_id: original.run_id, root_run_id: original.root_run_id, depth: 2 },
    });
    expect(row.given_fields!.toSorted()).toEqual(["metadata", "prompt", "seed"]);
  });

  it("has the changes, merged into the request", async () => {
    const original = await generate({ seed: 7, width: 512, height: 512, metadata: { order: "4711", note: "x" } });
    const changes = { prompt: "a windmill", seed: null, metadata: { note: null, size: 2 } };
    const row = await rowOf(original.run_id, changes);
    expect(row.inputs).toMatchObject({ prompt: "a windmill", width: 512, height: 512 });
    expect(row.metadata).toEqual({ order: "4711", size: 2 });
    expect(row.given_fields).not.toContain("seed");
  });

  it("can be repeated itself, as the next level of the tree", async () => {
    const original = await generate();
    const second = await rowOf(original.run_id, { seed: 1 });
    const third = await rowOf(second.run_id, { seed: 2 });
    expect(third).toMatchObject({ parent_run_id: second.run_id, root_run_id: original.run_id, depth: 3 });
  });

  it("does not wait because the caller of the earlier run did", async () => {
    const row = await rowOf((await generate({ sync: true })).run_id);
    expect([row.inputs.sync, row.given_fields!.includes("sync")]).toEqual([false, false]);
  });

  it("uses the stored file of a form again, and a new image in its place", async () => {
    const original = await create(upscaleImage, { image: filePart("pixels") }, "form");
    const row = await rowOf(original.run_id);
    expect(row.inputs.image).toMatch(/^asset:/);
    expect(row.inputs.image).toBe(original.inputs.image);
    expect(row.plan[0]!.images).toMatchObject([{ asset: String(row.inputs.image).slice("asset:".length) }]);
    const other = await rowOf(original.run_id, { image: null, image_url: "https://example.com/a.png" });
    expect(other.plan[0]!.images).toEqual([{ url: "https://example.com/a.png" }]);
  });

  it("uses a base64 image again without its bytes", async () => {
    const image_url = `data:image/png;base64,${Buffer.from("pixels".repeat(20)).toString("base64")}`;
    const original = await create(upscaleImage, { image_url });
    const row = await rowOf(original.run_id);
    expect(row.inputs.image_url).toBe(original.inputs.image_url);
    expect(JSON.stringify(row)).not.toContain("base64");
  });
});

describe("a request to repeat a run", () => {
  it("is validated by the operation of the run, with all errors below the changes", async () => {
    const { run_id } = await generate();
    await expect(repeat(run_id, { width: 7, colour: "red", prompt: null })).rejects.toMatchObject({
      code: "validation_error",
      details: {
        errors: expect.arrayContaining([
          expect.objectContaining({ path: "/changes/width", code: "out_of_range" }),
          expect.objectContaining({ path: "/changes/colour", code: "unknown_field" }),
          expect.objectContaining({ path: "/changes/prompt", code: "required" }),
        ]),
      },
    });
  });

  it("needs the permission for the operation of the run", async () => {
    const { run_id } = await generate();
    const as = { ...caller, scopes: ["runs:*"] };
    await expect(repeat(run_id, {}, { as })).rejects.toMatchObject({
      ...{ code: "insufficient_scope", details: { required: "images:write" } },
    });
    expect((await rowOf(run_id, {}, { as: { ...caller, scopes: ["runs:*", "images:write"] } })).status).toBe("queued");
  });

  it("is refused above max_cost, of the earlier request or of the changes", async () => {
    const { run_id } = await generate({ max_cost: 1 });
    await expect(repeat(run_id, { max_cost: 0.000001 })).rejects.toMatchObject({ code: "spend_limit_reached" });
    await expect(repeat(run_id, { batch_size: 4, max_cost: 0.02 })).rejects.toMatchObject({
      code: "spend_limit_reached",
    });
    expect((await rowOf(run_id)).inputs.max_cost).toBe(1);
  });

  it("is refused in strict handling if the model does not use a changed field", async () => {
    const { run_id } = await generate();
    const changes = { lora_low_strength: 0.5 };
    expect((await rowOf(run_id, changes)).warnings).toHaveLength(1);
    await expect(repeat(run_id, changes, { isStrict: true })).rejects.toMatchObject({ code: "unsupported_parameter" });
  });

  it("is refused for an upload, a run of an earlier version, a deleted run and a run of another tenant", async () => {
    const context = { database: services.database, caller } as unknown as RequestContext;
    const upload = await uploadFile(services, context, filePart("pixels of an upload"), { isMask: false });
    await expect(repeat(upload.run_id)).rejects.toMatchObject({ code: "run_not_repeatable" });
    const [old, deleted] = [await generate(), await generate()];
    await database.owner.query("test.old", "update runs set given_fields = null where run_id = $1", [old.run_id]);
    await expect(repeat(old.run_id)).rejects.toMatchObject({ code: "run_not_repeatable" });
    await end(deleted.run_id);
    await tombstoneRun(database.db.forTenant(TENANT), TENANT, deleted.run_id, v7());
    await expect(repeat(deleted.run_id)).rejects.toMatchObject({ code: "run_deleted" });
    const as = { ...caller, tenant_id: v7() };
    await expect(repeat((await generate()).run_id, {}, { as })).rejects.toMatchObject({ code: "run_not_found" });
    await expect(repeat(v7())).rejects.toMatchObject({ code: "run_not_found" });
  });

  it("with the same idempotency key returns the same run, also after the earlier run was deleted", async () => {
    const { run_id } = await generate();
    const idempotencyKey = v7();
    const first = await repeat(run_id, { seed: 1 }, { idempotencyKey });
    await end(run_id);
    await tombstoneRun(database.db.forTenant(TENANT), TENANT, run_id, v7());
    const again = await repeat(run_id, { seed: 1 }, { idempotencyKey });
    expect([first.isReplay, again.isReplay, again.row.run_id]).toEqual([false, true, first.row.run_id]);
    await expect(repeat(run_id, { seed: 2 }, { idempotencyKey })).rejects.toMatchObject({
      code: "idempotency_key_reused",
    });
  });

  it("is another request than the one that created the run, also without changes", async () => {
    const [idempotencyKey, input] = [v7(), { prompt: "a lighthouse" }];
    const parsed = parseInput(generateImage, input, "json");
    const { row } = await acceptRun(services, caller, {
      operation: generateImage,
      parsed,
      idempotencyKey,
      isStrict: false,
    });
    await expect(repeat(row.run_id, {}, { idempotencyKey })).rejects.toMatchObject({ code: "idempotency_key_reused" });
  });
});
