// Sources of accepted runs: every kind of source records where the image came from, and what is not an image is
// refused before a run exists.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createFakeProvider,
  createRuntime,
  createStepServices,
  createTestFiles,
  createTestProviders,
  TENANT,
} from "../../../test/support/step-fixtures.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import type { RequestContext } from "../../access/request-context.ts";
import { createFilePart } from "../../contract/files.ts";
import type { Operation } from "../../contract/operation.ts";
import { parseInput } from "../../contract/parse.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Caller } from "../../db/access/caller.ts";
import { insertSourceAsset } from "../../db/files/assets.ts";
import { endRun } from "../../db/runs/end-runs.ts";
import { claimQueuedRuns } from "../../db/runs/queue.ts";
import { findRun } from "../../db/runs/runs.ts";
import { startClaimedRun } from "../../db/runs/start-run.ts";
import type { StoredAsset } from "../../db/typed-columns.ts";
import { buildRunTree } from "../../library/run-tree.ts";
import { type UploadDependencies, uploadFile } from "../../library/upload.ts";
import { combineImages } from "../../operations/images/combine.ts";
import { editGemini25 } from "../../operations/images/edit-gemini25.ts";
import { upscaleImage } from "../../operations/images/upscale.ts";
import { honourAll } from "../../providers/parameter-support.ts";
import { type AcceptDependencies, acceptRun } from "./accept-run.ts";

let database: TestDatabase;
let folder: string;
let services: AcceptDependencies & UploadDependencies;
const caller = { tenant_id: TENANT, user_id: "u", key_id: null, token: null, expires_at: null } as unknown as Caller;
const urlOf = (assetId: string) => `https://gesso.example/files/${assetId}`;

beforeAll(async () => {
  database = await startTestDatabase();
  folder = mkdtempSync(join(tmpdir(), "gesso-lineage-"));
  const offers = [
    ...[
      { task: "image.upscale", model: "upscale-default" } as const,
      { task: "image.edit", model: "gemini-2.5" } as const,
    ],
    ...[{ task: "image.combine", model: "local" } as const, { task: "image.blend", model: "local" } as const],
  ];
  const fakes = offers.map((offer) => createFakeProvider(offer.task, { ...offer, parameters: honourAll(offer.task) }));
  const files = {
    ...createTestFiles(),
    findIdByUrl: (url: string) => /^https:\/\/gesso\.example\/files\/(.+)$/.exec(url)?.[1],
  };
  const parts = { runtime: createRuntime(), providers: createTestProviders(fakes), files };
  services = {
    ...createStepServices({ ...parts, database: database.db.forTenant(TENANT) }),
    notifications: { runQueued: () => {} },
    logExhaustedBudget: () => {},
  } as unknown as AcceptDependencies & UploadDependencies;
});
afterAll(async () => {
  await database?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const accept = async (operation: Operation, input: JsonObject, isStrict = false) => {
  const { row } = await acceptRun(services, caller, {
    ...{ operation, parsed: parseInput(operation, input, "json"), idempotencyKey: v7(), isStrict },
  });
  return row;
};
const upscale = (input: JsonObject, isStrict?: boolean) => accept(upscaleImage, input, isStrict);

const createAsset = (media_type = "image/png"): StoredAsset => ({
  ...{ asset_id: v7(), media_type, width: 32, height: 32, size_bytes: 1, sha256: "00", role: "result" },
});

/** Ends the run with these outputs. Returns the URLs of the outputs. */
async function complete(runId: string, ...outputs: StoredAsset[]): Promise<string[]> {
  const lanes = ["image.upscale", "image.edit", "image.combine"].map((lane) => ({
    tenant_id: TENANT,
    lane,
    count: 100,
  }));
  const claims = await claimQueuedRuns(database.db, lanes);
  for (const claim of claims) {
    await startClaimedRun(database.db, claim, v7());
    const own = claim.run_id === runId ? outputs : [createAsset()];
    const end = { status: "completed" as const, result: { outputs: own }, provider: "p", cost: 0, warnings: [] };
    await endRun(database.db, claim, end, v7());
    for (const asset of own)
      await insertSourceAsset(database.db, claim, { ...asset, storage_key: `t/${TENANT}/${asset.asset_id}` });
  }
  return outputs.map(({ asset_id }) => urlOf(asset_id));
}

async function upload(isMask = false, parent_id?: string) {
  const path = join(folder, v7());
  writeFileSync(path, `pixels ${path}`);
  const file = createFilePart({ path, filename: "a.png", size_bytes: 1, sha256: v7() });
  const context = { database: services.database, caller } as unknown as RequestContext;
  const { run_id, result } = await uploadFile(services, context, file, { isMask, parent_id });
  return { run_id, url: urlOf(result!.outputs[0]!.asset_id) };
}

const base64 = () => `data:image/png;base64,${Buffer.from(`pixels ${v7()}`.repeat(9)).toString("base64")}`;

const edgesOf = async (runId: string) => {
  const row = (await findRun(database.db, TENANT, runId))!;
  const { edges } = await buildRunTree(services as never, row);
  return edges.map(({ from, to, kind, role }) => [from, to, kind, role].join(" ")).sort();
};

describe("a tree built only from URLs, run IDs with an index, uploads and base64", () => {
  it("has every edge", async () => {
    const [source, mask] = [await upload(), await upload(true)];
    const byUrl = await upscale({ image_url: source.url });
    const [, secondUrl] = await complete(byUrl.run_id, createAsset(), createAsset());
    const byIndex = await upscale({ run_id: byUrl.run_id, output_index: 1 });
    expect(byIndex.plan[0]!.images).toEqual([{ run: byUrl.run_id, output: 1 }]);
    const [imageUrl] = await complete(byIndex.run_id, createAsset());
    const byObject = await upscale({ image_url: { run_id: byIndex.run_id, output_index: 0 } });
    const edited = await accept(editGemini25, {
      ...{ prompt: "x", image_url: imageUrl, mask_url: mask.url },
      reference_image_url: { run_id: byUrl.run_id, output_index: 1 },
    });
    const inline = await upscale({ image_url: base64() });
    expect(inline.inputs.image_url).toMatch(/^asset:/);
    const again = await upscale({ image_url: inline.inputs.image_url });
    const combined = await accept(combineImages, {
      images: [secondUrl, { run_id: byIndex.run_id }, base64(), inline.inputs.image_url, source.url],
    });

    expect(await edgesOf(source.run_id)).toEqual(
      [
        `${byUrl.run_id} ${source.run_id} parent source`,
        `${byIndex.run_id} ${byUrl.run_id} parent source`,
        `${byObject.run_id} ${byIndex.run_id} parent source`,
        `${edited.run_id} ${byIndex.run_id} parent source`,
        `${edited.run_id} ${byUrl.run_id} reference source`,
        `${edited.run_id} ${mask.run_id} reference mask`,
      ].sort(),
    );
    expect(await edgesOf(inline.run_id)).toEqual([`${again.run_id} ${inline.run_id} parent source`]);
    expect(await edgesOf(combined.run_id)).toEqual(
      [byUrl, byIndex, inline, source].map(({ run_id }) => `${combined.run_id} ${run_id} reference source`).sort(),
    );
  });

  it("has a reference instead of a parent where the tree is at its maximum depth, unless the run was named", async () => {
    let source = await upload();
    for (let depth = 2; depth <= 64; depth++) source = await upload(false, source.run_id);
    const run = await upscale({ image_url: source.url });
    expect([run.parent_run_id, run.depth]).toEqual([null, 1]);
    expect(await edgesOf(run.run_id)).toEqual([`${run.run_id} ${source.run_id} reference source`]);
    await expect(upscale({ run_id: source.run_id })).rejects.toMatchObject({ code: "tree_too_deep" });
  });
});

describe("a source", () => {
  it("with an index beyond the outputs of its run is refused", async () => {
    const source = await upload();
    await expect(upscale({ run_id: source.run_id, output_index: 1 })).rejects.toMatchObject({
      ...{ code: "output_not_found", details: { run_id: source.run_id, output_index: 1, output_count: 1 } },
    });
    await expect(
      accept(combineImages, { images: [source.url, { run_id: source.run_id, output_index: 9 }] }),
    ).rejects.toMatchObject({ code: "output_not_found" });
  });

  it("that is a video is refused, unless a frame of it is wanted", async () => {
    const run = await upscale({ image_url: base64() });
    const [url] = await complete(run.run_id, createAsset("video/mp4"), createAsset());
    const refused = { code: "source_not_image", details: { media_type: "video/mp4" } };
    for (const image_url of [url, run.run_id, { run_id: run.run_id }])
      await expect(upscale({ image_url })).rejects.toMatchObject(refused);
    await expect(upscale({ run_id: run.run_id })).rejects.toMatchObject(refused);
    expect((await upscale({ run_id: run.run_id, frame: "last" })).plan[0]!.images).toEqual([
      { run: run.run_id, frame: "last" },
    ]);
    expect((await upscale({ run_id: run.run_id, output_index: 1 })).parent_run_id).toBe(run.run_id);
  });

  it("that is a stored file must belong to the tenant and exist", async () => {
    await expect(upscale({ image_url: `asset:${v7()}` })).rejects.toMatchObject({ code: "asset_not_found" });
    const file = { ...createAsset(), storage_key: "t/other/x" };
    await insertSourceAsset(database.owner, { run_id: v7(), tenant_id: v7() }, file);
    await expect(upscale({ image_url: `asset:${file.asset_id}` })).rejects.toMatchObject({ code: "asset_not_found" });
    const { inputs } = await upscale({ image_url: base64() });
    const assetId = String(inputs.image_url).slice("asset:".length);
    await database.owner.query("test.delete", "update assets set deleted_at = now() where asset_id = $1", [assetId]);
    await expect(upscale({ image_url: inputs.image_url })).rejects.toMatchObject({ code: "asset_expired" });
  });

  it("that takes precedence over the run leaves a warning about the index, or a refusal with strict handling", async () => {
    const [source, other] = [await upload(), await upload()];
    const input = { image_url: other.url, run_id: source.run_id, output_index: 0, frame: "first" };
    const { warnings, parent_run_id } = await upscale(input);
    expect(warnings).toEqual([
      "output_index is ignored: the source is not an output of a run.",
      "frame is ignored: the source is not an output of a run.",
    ]);
    expect(parent_run_id).toBe(source.run_id);
    await expect(upscale(input, true)).rejects.toMatchObject({ code: "unsupported_parameter" });
    expect((await upscale({ run_id: source.run_id, output_index: 0 }, true)).warnings).toEqual([]);
  });
});
