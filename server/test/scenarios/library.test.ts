// What callers collect from runs: the tree, the layers, the price, and the prompt library.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { v7 } from "uuid";
import { afterAll, describe, expect } from "vitest";
import { it } from "../conformance/http-and-client.ts";
import { download } from "../conformance/response-checks.ts";
import { asDataUrl, fieldErrors, UNKNOWN_ID } from "../conformance/run-requests.ts";
import { useOwnSuite } from "../conformance/suite.ts";
import type { ApiResponse } from "../support/api-caller.ts";

const folder = mkdtempSync(join(tmpdir(), "gesso-library-"));
const GESSO_CONFIG = join(folder, "gesso.yaml");
writeFileSync(
  GESSO_CONFIG,
  `models:
  flux-kontext-max: [{ provider: sandbox, task: image.generate, price: 0.04, price_version: ours }]
  nanobanana: [{ provider: sandbox, price: unknown }]
`,
);
const suite = useOwnSuite({ GESSO_CONFIG });
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const patch = (id: string, body: unknown) => suite.caller.send("PATCH", `/api/v1/prompts/${id}`, { body });
/** A response without the values that differ between two resources. */
const withoutRequest = ({ status, body }: ApiResponse) =>
  JSON.parse(JSON.stringify({ status, body }).replaceAll(body.details.request_id, ""));
const flat = (width: number, height: number, background: string) =>
  sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();
const upload = async (parent_id?: string): Promise<string> =>
  suite.uploadImage(await flat(32, 24, "#37a"), parent_id ? { parent_id } : {});

/** A run of another tenant, which no credential of this test can read. */
async function strangersRun(): Promise<string> {
  const id = v7();
  await suite.environment.query(
    `insert into runs (run_id, tenant_id, user_id, operation, run_type, inputs, plan, root_run_id)
     values ($1, $2, 'x', 'images.generate', 'image-generation', '{}', '[]', $1)`,
    [id, v7()],
  );
  return id;
}

describe("runs.tree", () => {
  it("[RUN-034] [RUN-035] [RUN-045] returns the same complete tree for each of its runs, with parents and references", async () => {
    const root = await upload();
    const child = await upload(root);
    const grandchild = await upload(child);
    const other = await upload();
    const { body: combined } = await suite.caller.generate({
      ...{ prompt: "both", model_type: "gemini-2.5", run_ids: [child, other], sync: true },
    });
    const trees = await Promise.all([root, child, grandchild].map((id) => suite.caller.get(`/runs/${id}/tree`)));
    expect(trees.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const { body } of trees) {
      expect(body).toEqual(trees[0]!.body);
      expect(body.root_run_id).toBe(root);
      expect(body.nodes.map((node: any) => node.run_id)).toEqual([root, child, grandchild]);
      expect(body.edges).toEqual([
        { from: child, to: root, kind: "parent", role: "link" },
        { from: grandchild, to: child, kind: "parent", role: "link" },
      ]);
    }
    const { body } = await suite.caller.get(`/runs/${combined.run_id}/tree`);
    expect(body.nodes.map((node: any) => node.run_id)).toEqual([combined.run_id, child, other]);
    expect(body.edges).toEqual(
      [child, other].map((to) => ({ from: combined.run_id, to, kind: "reference", role: "source" })),
    );
    expect(body.nodes[0]).toMatchObject({ status: "completed", image_url: combined.image_url, model: "gemini-2.5" });
  });

  it("keeps a deleted run as a tombstone while it has a child, and removes it afterwards", async () => {
    const root = await upload();
    const child = await upload(root);
    const leaf = await upload(child);
    await suite.caller.delete(`/runs/${child}`);
    const { body } = await suite.caller.get(`/runs/${root}/tree`);
    expect(body.nodes.map((node: any) => [node.run_id, node.deleted])).toEqual([
      [root, false],
      [child, true],
      [leaf, false],
    ]);
    expect((await suite.caller.get(`/runs/${child}/tree`)).body.code).toBe("run_deleted");
    await suite.caller.delete(`/runs/${leaf}`);
    expect((await suite.caller.get(`/runs/${root}/tree`)).body.nodes).toHaveLength(1);
  });

  it("grows to 64 levels, and the 65th is refused", async () => {
    let deepest = await upload();
    for (let level = 2; level <= 64; level++) deepest = await upload(deepest);
    expect((await suite.caller.get(`/runs/${deepest}/tree`)).body.nodes).toHaveLength(64);
    const form = suite.form({ file: await flat(16, 16, "red"), parent_id: deepest });
    const refused = await suite.caller.post("/upload", form);
    expect([refused.status, refused.body.code]).toEqual([422, "tree_too_deep"]);
  });

  it.each(["tree", "layers"])("returns the same 404 for an unknown run and another tenant's: %s", async (what) => {
    const otherTenant = await suite.caller.get(`/runs/${await strangersRun()}/${what}`);
    expect(otherTenant).toMatchObject({ status: 404, body: { code: "run_not_found" } });
    expect(withoutRequest(otherTenant)).toEqual(withoutRequest(await suite.caller.get(`/runs/${UNKNOWN_ID}/${what}`)));
    expect((await suite.caller.get(`/runs/nonsense/${what}`)).status).toBe(400);
  });
});

describe("edit.getLayers", () => {
  it("[LAY-001] [LAY-002] [LAY-003] [LAY-004] stacks the sources below the result", async () => {
    const sources = [await upload(), await upload()];
    const { body: run } = await suite.caller.generate({
      ...{ prompt: "both", model_type: "gemini-2.5", run_ids: sources, sync: true },
    });
    const { status, body } = await suite.caller.get(`/runs/${run.run_id}/layers`);
    expect(status).toBe(200);
    expect(body.data.layers.map((layer: any) => [layer.kind, layer.run_id, layer.z_index])).toEqual([
      ["source", sources[0], 0],
      ["source", sources[1], 1],
      ["result", run.run_id, 2],
    ]);
    expect(body.data.layers[0]).toMatchObject({ x: 0, y: 0, width: 32, height: 24, opacity: 1, visible: true });
    expect(body.data.layers[2].image_url).toBe(run.image_url);
    for (const layer of body.data.layers) expect((await fetch(layer.image_url)).status).toBe(200);
  });
});

describe("edit.getLayers of operations of several jobs", () => {
  const layersOf = async (runId: string) => (await suite.caller.get(`/runs/${runId}/layers`)).body.data.layers as any[];
  /** Red squares side by side. */
  const shapes = async (count = 1) => {
    const canvas = sharp(await flat(96, 64, "#fff"));
    const square = await flat(20, 20, "#e00");
    const composed = await canvas
      .composite(Array.from({ length: count }, (_, index) => ({ input: square, left: 8 + 50 * index, top: 12 })))
      .png()
      .toBuffer();
    return asDataUrl(composed);
  };

  it.each([
    ["extract", "object"],
    ["mask", "mask"],
  ])(
    "[LAY-005] an extract in mode %s has a layer of kind %s for each of its objects, between source and result",
    async (mode, kind) => {
      const { body } = await suite.caller.post("/edits/extract", {
        ...{ image_url: await shapes(2), prompt: "red squares", multiple: true, mode, sync: true },
      });
      expect([body.status, body.error]).toEqual(["completed", null]);
      const layers = await layersOf(body.run_id);
      const own = layers.filter((layer) => layer.kind === kind);
      expect(own.map(({ image_url }) => image_url)).toEqual(body.objects.map((object: any) => object.image_url));
      expect(own).toHaveLength(2);
      expect([layers[0].kind, layers.at(-1).kind]).toEqual(["source", "result"]);
      const [bottom, ...upward] = layers.map(({ z_index }) => z_index);
      for (const { z_index } of own) expect(z_index > bottom && z_index < upward.at(-1)!).toBe(true);
      // Each layer shows its own object: one is on the left, the other on the right.
      const brightest = async ({ image_url }: any) => {
        const grey =
          kind === "mask"
            ? sharp(await download(image_url)).greyscale()
            : sharp(await download(image_url)).extractChannel(3);
        const { data, info } = await grey.raw().toBuffer({ resolveWithObject: true });
        return data.indexOf(255) % info.width < 48 ? "left" : "right";
      };
      expect((await Promise.all(own.map(brightest))).sort()).toEqual(["left", "right"]);
    },
  );

  it("[LAY-006] a segment has a mask", async () => {
    const input = { imageUrl: await shapes(), prompt: "the red square", sync: true };
    const { body } = await suite.caller.post("/edits/segment", input, { accept: "application/json" });
    expect([body.status, body.error]).toEqual(["completed", null]);
    expect((await layersOf(body.run_id)).map((layer) => layer.kind)).toContain("mask");
  });

  it("[LAY-007] a combine of three has three sources, where it laid them", async () => {
    const images = [await upload(), await shapes(), await upload()];
    const { body } = await suite.caller.post("/combine", { images, gap: 4, sync: true });
    expect([body.status, body.error]).toEqual(["completed", null]);
    const layers = await layersOf(body.run_id);
    expect(layers.map(({ kind, x }) => [kind, x])).toEqual([
      ["source", 0],
      ["source", 36],
      ["source", 136],
      ["result", 0],
    ]);
    const { width, height } = layers.at(-1);
    expect([width, height]).toEqual([168, 64]);
  });
});

describe("runs.rerun", () => {
  it("creates a child with the changed request, waits with sync, and returns the same run for the same key", async () => {
    const { body: first } = await suite.caller.generate({ prompt: "a kite", seed: 1 });
    const key = { "idempotency-key": v7() };
    const request = { changes: { seed: 2, prompt: "two kites" }, sync: true };
    const again = await suite.caller.post(`/runs/${first.run_id}/rerun`, request, key);
    expect([again.status, again.body.status, again.body.parent_run_id]).toEqual([200, "completed", first.run_id]);
    expect(again.body.given).toEqual({ prompt: "two kites", seed: 2 });
    const replay = await suite.caller.post(`/runs/${first.run_id}/rerun`, request, key);
    expect([replay.body.run_id, replay.headers.get("idempotent-replayed")]).toEqual([again.body.run_id, "true"]);
    const open = await suite.caller.post(`/runs/${first.run_id}/rerun`, { changes: { prompt: "x [sandbox:delay=1]" } });
    expect([open.status, open.headers.get("x-run-id")]).toEqual([202, open.body.run_id]);
    expect((await suite.caller.post(`/runs/${await upload()}/rerun`, {})).body.code).toBe("run_not_repeatable");
  });
});

describe("runs.estimate", () => {
  const estimate = (operation: string, input: unknown) => suite.caller.post("/runs/estimate", { operation, input });

  it("[RUN-037] [RUN-046] returns a price with its basis and creates no run", async () => {
    const count = async () => (await suite.environment.query("select count(*)::int as n from runs"))[0]!.n;
    const before = await count();
    const { status, body } = await estimate("images.generate", { prompt: "x", batch_size: 2 });
    expect(status).toBe(200);
    expect(body).toEqual({
      ...{ currency: "USD", amount: 0, known: true, at_most: false },
      basis: [{ what: "image.generate flux-dev, per image", quantity: 2, unit_price: 0, price_version: "1" }],
    });
    expect(
      (await estimate("images.generate", { prompt: "x", model_type: "flux-kontext-max", batch_size: 2 })).body,
    ).toEqual({
      ...{ currency: "USD", amount: 0.08, known: true, at_most: false },
      basis: [
        { what: "image.generate flux-kontext-max, per image", quantity: 2, unit_price: 0.04, price_version: "ours" },
      ],
    });
    expect(await count()).toBe(before);
  });

  it("[RUN-046] is unknown and never 0 for an offer without a price, and for a model without an offer", async () => {
    const offered = await estimate("images.generate", { prompt: "x", model_type: "nanobanana" });
    expect(offered.body).toEqual({
      ...{ currency: "USD", amount: null, known: false, at_most: false },
      basis: [expect.objectContaining({ what: "image.generate nanobanana, per image", quantity: 1, unit_price: null })],
    });
    const run = await suite.caller.generate({ prompt: "[sandbox:delay=0] x", model_type: "nanobanana", sync: true });
    expect([run.body.status, run.body.provider]).toEqual(["completed", "sandbox"]);
    const without = await estimate("images.generate", { prompt: "x", model_type: "vendorc" });
    expect(without).toMatchObject({ status: 200, body: { currency: "USD", amount: null, known: false } });
  });

  it("[RUN-038] refuses what the operation would refuse, and operations that there are not", async () => {
    const refused = await estimate("images.generate", { width: 1, nonsense: true });
    expect([refused.status, refused.body.code]).toEqual([400, "validation_error"]);
    expect(fieldErrors(refused).sort()).toEqual([
      ...["/input/nonsense unknown_field", "/input/prompt required", "/input/width out_of_range"],
    ]);
    expect(fieldErrors(await estimate("images.conjure", {}))).toEqual(["/operation unknown_value"]);
    expect(fieldErrors(await suite.caller.post("/runs/estimate", {})).sort()).toEqual([
      "/input required",
      "/operation required",
    ]);
  });
});

describe("the prompt library", () => {
  const draft = { name: "Harbour", text: "a harbour at dusk", model_type: "flux-dev", tags: ["sea", "dusk"] };

  it("[PRM-006] [PRM-009] [PRM-013] keeps, changes by version, and deletes", async () => {
    const made = await suite.caller.post("/prompts", { ...draft, tags: ["sea", "dusk", "sea"] });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ ...draft, version: 1 });
    const { id } = made.body;
    expect((await suite.caller.get(`/prompts/${id}`)).body).toEqual(made.body);

    const changed = await patch(id, { text: "a harbour at dawn", model_type: null });
    expect(changed).toMatchObject({ status: 200, body: { version: 2, text: "a harbour at dawn", model_type: null } });
    expect(changed.body).toMatchObject({ name: "Harbour", tags: ["sea", "dusk"], created_at: made.body.created_at });
    expect((await suite.caller.get(`/prompts/${id}`)).body).toEqual(changed.body);
    expect((await suite.caller.get(`/prompts/${id}?version=1`)).body).toEqual(made.body);

    expect(await suite.caller.delete(`/prompts/${id}`)).toMatchObject({ status: 200, body: changed.body });
    for (const gone of [await suite.caller.get(`/prompts/${id}`), await patch(id, { name: "x" })]) {
      expect(gone).toMatchObject({ status: 404, body: { code: "prompt_not_found" } });
    }
    expect((await suite.caller.delete(`/prompts/${id}`)).body.code).toBe("prompt_not_found");
    expect((await suite.caller.get(`/prompts/${id}?version=1`)).body.code).toBe("prompt_not_found");
  });

  it("accepts a change only from the version that it names", async () => {
    const { id } = (await suite.caller.post("/prompts", draft)).body;
    await patch(id, { text: "two" });
    const late = await patch(id, { text: "three", version: 1 });
    expect(late).toMatchObject({ status: 409, body: { code: "conflict", details: { version: 2 } } });
    expect(await patch(id, { text: "three", version: 2 })).toMatchObject({ status: 200, body: { version: 3 } });
    expect((await suite.caller.get(`/prompts/${id}?version=4`)).body.code).toBe("prompt_not_found");
  });

  it("[PRM-007] lists newest first, page by page, by tag and by text, and signs its cursors", async () => {
    const tag = `t${Date.now()}`;
    const names = ["one", "two", "three", "four", "five"];
    for (const name of names) await suite.caller.post("/prompts", { name, text: `text of ${name}`, tags: [tag] });
    const seen: string[] = [];
    let path = `/prompts?limit=2&tag=${tag}`;
    for (;;) {
      const { body, headers } = await suite.caller.get(path);
      seen.push(...body.data.map((prompt: any) => prompt.name));
      expect(Boolean(headers.get("link")?.includes('rel="next"'))).toBe(body.next_cursor !== null);
      if (body.next_cursor === null) break;
      path = `/prompts?limit=2&tag=${tag}&cursor=${body.next_cursor}`;
    }
    expect(seen).toEqual(names.toReversed());
    const found = await suite.caller.get(`/prompts?tag=${tag}&q=${encodeURIComponent("OF T")}`);
    expect(found.body.data.map((prompt: any) => prompt.name)).toEqual(["three", "two"]);

    const { next_cursor } = (await suite.caller.get(`/prompts?limit=1&tag=${tag}`)).body;
    for (const wrong of [`/prompts?cursor=${next_cursor}`, `/runs?cursor=${next_cursor}`, "/prompts?cursor=x"]) {
      expect(await suite.caller.get(wrong)).toMatchObject({ status: 400, body: { code: "invalid_cursor" } });
    }
  });

  it("creates one prompt for an Idempotency-Key", async () => {
    const key = { "idempotency-key": `prompt-${Date.now()}` };
    const [first, second] = [
      await suite.caller.post("/prompts", draft, key),
      await suite.caller.post("/prompts", draft, key),
    ];
    expect(second).toMatchObject({ status: 201, body: first.body });
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    const other = await suite.caller.post("/prompts", { ...draft, name: "other" }, key);
    expect(other.body.code).toBe("idempotency_key_reused");
    expect((await suite.caller.generate({ prompt: "x" }, key)).body.code).toBe("idempotency_key_reused");
  });

  it("[PRM-010] knows nothing of another tenant's prompts", async () => {
    const [id, tenant] = [v7(), v7()];
    await suite.environment.query(
      `insert into prompts (tenant_id, prompt_id, name, text, folded_name, folded_text)
       values ($1, $2, 'secret', 'secret', 'secret', 'secret')`,
      [tenant, id],
    );
    await suite.environment.query(
      `insert into prompt_versions (tenant_id, prompt_id, version, user_id, name, text, tags, created_at)
       values ($1, $2, 1, 'x', 'secret', 'secret', '{}', now())`,
      [tenant, id],
    );
    const input = [
      () => suite.caller.get(`/prompts/${id}`),
      () => patch(id, { name: "x" }),
      () => suite.caller.delete(`/prompts/${id}`),
    ];
    for (const ask of input) expect(await ask()).toMatchObject({ status: 404, body: { code: "prompt_not_found" } });
    expect((await suite.caller.get("/prompts?q=secret")).body.data).toEqual([]);
    const strange = withoutRequest(await suite.caller.get(`/prompts/${id}`));
    expect(strange).toEqual(withoutRequest(await suite.caller.get(`/prompts/${UNKNOWN_ID}`)));
  });

  it("enforces its limits in code points, and accepts values just within them", async () => {
    const longest = {
      name: "😀".repeat(200),
      text: "😀".repeat(8000),
      tags: Array.from({ length: 20 }, (_, n) => `${"é".repeat(48)}${n}`),
    };
    const made = await suite.caller.post("/prompts", longest);
    expect(made).toMatchObject({ status: 201, body: longest });
    const over: [Record<string, unknown>, string][] = [
      [{ name: "x".repeat(201) }, "/name too_long"],
      [{ name: " \t" }, "/name required"],
      [{ text: "x".repeat(8001) }, "/text too_long"],
      [{ text: "" }, "/text required"],
      [{ text: "a\0b" }, "/text invalid_unicode"],
      [{ tags: Array.from({ length: 21 }, (_, n) => `t${n}`) }, "/tags too_many_items"],
      [{ tags: ["x".repeat(51)] }, "/tags/0 too_long"],
      // Which names mean a model depends on the installation, so it is judged when the prompt is used.
      [{ model_type: "x".repeat(201) }, "/model_type too_long"],
      [{ id: UNKNOWN_ID }, "/id unknown_field"],
    ];
    for (const [wrong, reported] of over)
      expect(fieldErrors(await suite.caller.post("/prompts", { ...draft, ...wrong }))).toEqual([reported]);
    expect(fieldErrors(await patch(made.body.id, {}))).toEqual(["/name at_least_one_of"]);
    expect((await patch(made.body.id, { version: 2147483648, name: "x" })).status).toBe(400);
  });

  it("returns 400 and never 500 for invalid queries", async () => {
    const wrong = [
      "/prompts?limit=0",
      "/prompts?limit=101",
      "/prompts?q=%00",
      "/prompts?tag=%00",
      "/runs?run_type=%00",
    ];
    for (const path of [...wrong, `/prompts/${UNKNOWN_ID}?version=0`, `/prompts/${UNKNOWN_ID}?version=99999999999`]) {
      expect([path, (await suite.caller.get(path)).status]).toEqual([path, 400]);
    }
    expect((await suite.caller.get("/prompts/nonsense")).status).toBe(400);
  });
});
