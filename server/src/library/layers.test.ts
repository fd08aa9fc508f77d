// Layers of runs whose rows are written here as each kind of operation leaves them: what lies where, and in which
// order.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFakeAssets } from "../../test/support/fake-assets.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import type { Job } from "../contract/operation.ts";
import { Layers } from "../contract/schemas/library.ts";
import { insertSourceAsset } from "../db/files/assets.ts";
import { COMPLETED_PLAN } from "../db/runs/end-sql.ts";
import { findRun } from "../db/runs/runs.ts";
import type { StoredAsset, StoredRunResult } from "../db/typed-columns.ts";
import { createAssetUrlSigner } from "../files/storage/asset-urls.ts";
import { sourceAssetId } from "../runs/core/ids.ts";
import { buildLayers } from "./layers.ts";

const TENANT = v7();
const urls = createAssetUrlSigner([Buffer.alloc(32, 7)], "https://gesso.example");
const assets = { ...createFakeAssets(), signUrl: urls.sign };
let base: TestDatabase;
beforeAll(async () => {
  base = await startTestDatabase();
});
afterAll(() => base?.stop());

const file = (more: Partial<StoredAsset> = {}): StoredAsset => ({
  ...{ asset_id: v7(), media_type: "image/png", width: 100, height: 80, size_bytes: 1, sha256: "0", role: "result" },
  ...more,
});

async function run(plan: Job[], result?: StoredRunResult, run_id = v7()): Promise<string> {
  const [status, progress] = result ? ["completed", 1] : ["processing", 0.5];
  await base.db.query(
    "test.insert",
    `insert into runs (run_id, tenant_id, user_id, operation, run_type, inputs, plan, root_run_id, status, progress,
       result, started_at, finished_at)
     values ($1, $2, 'u', 'o', 't', '{}', $3, $1, $4, $5, $6, now(), case when $6::jsonb is null then null else now() end)`,
    [run_id, TENANT, JSON.stringify(plan), status, progress, result],
  );
  if (result)
    await base.db.query("test.complete", `update runs set plan = ${COMPLETED_PLAN} where run_id = $1`, [run_id]);
  return run_id;
}
const made = (more: Partial<StoredAsset> = {}) => run([], { outputs: [file(more)] });
const keep = (run_id: string, asset_id: string) =>
  insertSourceAsset(
    base.db,
    { run_id, tenant_id: TENANT },
    { ...file({ asset_id, role: "source" }), storage_key: "k" },
  );

const layers = async (runId: string) => {
  const row = (await findRun(base.db, TENANT, runId))!;
  return Layers.parse(await buildLayers({ database: base.db, assets }, row)).data.layers;
};
const kinds = async (runId: string) => (await layers(runId)).map((layer) => layer.kind);

const edit = (more: Partial<Job>): Job => ({ task: "image.edit", model: "vendora", ...more });
const segment = (more: Partial<Job>): Job => ({ task: "image.segment", model: "segment-default", ...more });
const cut = (more: Partial<Job>): Job => ({ task: "image.cut", model: "local", ...more });

describe("layers", () => {
  it("of an edit: the source below, the result on top, each of full size", async () => {
    const source = await made();
    const result = file();
    const id = await run([edit({ images: [{ run: source.toUpperCase() }] })], { outputs: [result] });
    const stack = await layers(id);
    const whole = { x: 0, y: 0, width: 100, height: 80, opacity: 1, visible: true };
    expect(stack).toMatchObject([
      { kind: "source", run_id: source, z_index: 0, ...whole },
      { kind: "result", run_id: id, z_index: 1, ...whole, image_url: urls.sign(result.asset_id, "image/png") },
    ]);
    expect(await layers(id)).toEqual(stack);
  });

  it("of a run with URLs and stored files: a mask lies between", async () => {
    const id = v7();
    const kept = v7();
    await keep(id, kept);
    const [image, mask] = [{ url: "https://a.example/x.png" }, { url: "https://a.example/m.png" }];
    await keep(id, sourceAssetId(id, image.url));
    await keep(id, sourceAssetId(id, mask.url));
    const plan = [edit({ images: [{ asset: kept }, image], mask }), edit({ images: [image], mask })];
    await run(plan, { outputs: [file()] }, id);
    expect(await kinds(id)).toEqual(["source", "source", "mask", "result"]);
    expect((await layers(id))[0]!.image_url).toBe(urls.sign(kept, "image/png"));
  });

  it("of an extract: a layer for each object, in its place, between source and result", async () => {
    const image = { run: await made() };
    const boxes = [
      { x: 10, y: 20, width: 30, height: 40 },
      { x: 50, y: 5, width: 12, height: 9 },
    ];
    const masks = boxes.map((box, n) => file({ name: `lamp ${n}`, score: 0.9, box }));
    const objects = boxes.map(({ width, height }, n) => file({ name: `lamp ${n}`, width, height }));
    const id = await run([segment({ images: [image] }), cut({ images: [image], masks: [{ job: 0, every: true }] })], {
      outputs: objects,
      jobs: [masks, objects],
    });
    const stack = await layers(id);
    expect(stack.map(({ kind }) => kind)).toEqual(["source", "mask", "mask", "object", "object", "result"]);
    expect(stack.filter(({ kind }) => kind === "object")).toMatchObject([
      { name: "lamp 0", ...boxes[0] },
      { name: "lamp 1", ...boxes[1] },
    ]);
    expect(stack.at(-1)).toMatchObject({ kind: "result", ...boxes[0] });
    expect(new Set(stack.map((layer) => layer.id)).size).toBe(stack.length);
  });

  it("of a cut-out as large as its image: it covers the full frame", async () => {
    const image = { run: await made() };
    const mask = file({ box: { x: 10, y: 20, width: 30, height: 40 } });
    const whole = file();
    const id = await run([segment({ images: [image] }), cut({ images: [image], mask: { job: 0 } })], {
      outputs: [whole],
      jobs: [[mask], [whole]],
    });
    expect((await layers(id)).find(({ kind }) => kind === "object")).toMatchObject({
      x: 0,
      y: 0,
      width: 100,
      height: 80,
    });
  });

  it("of a segment: the mask, and no object", async () => {
    const id = await run([segment({ images: [{ run: await made() }] })], { outputs: [file({ name: "left" })] });
    expect(await kinds(id)).toEqual(["source", "mask", "result"]);
  });

  it("of an extract of masks: each once, with the names of the found objects", async () => {
    const image = { run: await made() };
    const found = [file({ name: "left", width: 50 }), file({ name: "right", width: 50 })];
    const drawn = [file(), file()];
    const masks = [{ job: 0, every: true as const }];
    const id = await run([segment({ images: [image] }), cut({ images: [image], masks, options: { mode: "mask" } })], {
      outputs: drawn,
      jobs: [found, drawn],
    });
    const stack = await layers(id);
    expect(stack.map(({ kind, name }) => [kind, name])).toEqual([
      ["source", "Source"],
      ["mask", "left"],
      ["mask", "right"],
      ["result", "left"],
    ]);
  });

  it("of a combine: every source in its place, also one that occurs twice", async () => {
    const [first, second] = [await made(), await made({ width: 40, height: 20 })];
    const images = [{ run: first }, { run: second }, { run: first }];
    const combine = (options: Job["options"]) =>
      run([edit({ task: "image.combine", images, options })], { outputs: [file({ width: 260 })] });
    const id = await combine({ mode: "side-by-side", gap: 10, opacity: 1 });
    const stack = await layers(id);
    expect(stack.map((layer) => layer.run_id)).toEqual([first, second, first, id]);
    expect(stack.map(({ x, y, width, height }) => [x, y, width, height])).toEqual([
      [0, 0, 100, 80],
      [110, 30, 40, 20],
      [160, 0, 100, 80],
      [0, 0, 260, 80],
    ]);
    expect(new Set(stack.map((layer) => layer.id)).size).toBe(4);
    const overlay = await layers(await combine({ mode: "overlay", gap: 0, opacity: 0.4 }));
    expect(overlay.map(({ opacity }) => opacity)).toEqual([1, 0.4, 0.4, 1]);
  });

  it("of a masked edit: the provider's result lies below the blended one", async () => {
    const image = { run: await made() };
    const mask = { run: await made({ role: "mask" }) };
    const [drawn, blended] = [file(), file()];
    const id = await run(
      [edit({ images: [image], mask }), edit({ task: "image.blend", images: [image, { job: 0 }], mask })],
      { outputs: [blended], jobs: [[drawn], [blended]] },
    );
    expect(await kinds(id)).toEqual(["source", "background", "mask", "result"]);
  });

  it("of several results: the image of the run is on top", async () => {
    const outputs = [file(), file(), file()];
    const id = await run([edit({ task: "image.generate" })], { outputs });
    const stack = await layers(id);
    expect(stack.map(({ kind }) => kind)).toEqual(["result", "result", "result"]);
    expect(stack.at(-1)!.image_url).toBe(urls.sign(outputs[0]!.asset_id, "image/png"));
  });

  it("of an open run: only its sources", async () => {
    expect(await kinds(await run([edit({ images: [{ run: await made() }] })]))).toEqual(["source"]);
    expect(await kinds(await run([edit({ task: "image.generate" })]))).toEqual([]);
  });

  it("of an upload: its image; of a video: no image", async () => {
    expect(await layers(await made())).toMatchObject([{ kind: "result", name: "Result" }]);
    expect(await layers(await made({ media_type: "video/mp4" }))).toMatchObject([{ kind: "result", image_url: null }]);
  });

  it("leave out deleted sources, and those of other tenants", async () => {
    const source = await made();
    const id = await run([edit({ images: [{ run: source }, { asset: v7() }] })], { outputs: [file()] });
    await base.db.query("test.gone", "update runs set deleted_at = now() where run_id = $1", [source]);
    expect(await kinds(id)).toEqual(["result"]);
  });
});
