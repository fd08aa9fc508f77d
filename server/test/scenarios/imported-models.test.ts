// Models that Gesso has no code for: what the provider publishes about them decides what a request may contain, and
// where files are. Everything else is an ordinary run.
import { randomInt } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkImportedModels } from "../../src/doctor/check-imported-models.ts";
import { importModel } from "../../src/models/import-model.ts";
import { createProviderHttpClient } from "../../src/outbound/provider-http-client.ts";
import { fal as falProvider } from "../../src/providers/fal.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import type { FakeVendor } from "../fake-vendors/fake-vendor.ts";
import { fakeFal } from "../fake-vendors/fal.ts";
import { createWave } from "../fake-vendors/published-models.ts";
import { fakeReplicate } from "../fake-vendors/replicate.ts";
import { listFalEndpoints } from "../model-schemas/fal-endpoints.ts";
import { FILE, PUBLISHED_BY_FAL, PUBLISHED_BY_REPLICATE, publishAtFal } from "../model-schemas/published.ts";
import { sendInputs } from "../model-schemas/send-inputs.ts";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

let fal: FakeVendor;
let replicate: FakeVendor;
let world: TestEnvironment;
let caller: ApiCaller;
let operator: ApiCaller;

beforeAll(async () => {
  [fal, replicate] = [await fakeFal.start(), await fakeReplicate.start()];
  Object.assign(fal.switches.published, PUBLISHED_BY_FAL);
  Object.assign(replicate.switches.published, PUBLISHED_BY_REPLICATE);
  world = await startTestEnvironment({
    roles: "split",
    // Providers call back, so no test waits for the next poll.
    env: { ...fakeFal.env(fal), ...fakeReplicate.env(replicate), PROVENANCE: "mark", PUBLIC_URL_IS_REACHABLE: "true" },
  });
  caller = createHttpCaller(world);
  operator = createHttpCaller(world);
  for (const path of Object.keys(PUBLISHED_BY_FAL)) await add(`fal:${path}`);
  for (const path of Object.keys(PUBLISHED_BY_REPLICATE)) await add(`replicate:${path}`);
}, 120_000);
afterAll(async () => {
  await world?.stop();
  await Promise.all([fal?.close(), replicate?.close()]);
}, 60_000);

async function add(model: string, more = {}) {
  const { status, body } = await operator.post("/catalogue/models", { model, ...more });
  expect([model, status, body.details]).toEqual([model, 200, undefined]);
  return body;
}

const create = async (body: object) => {
  const response = await caller.post("/runs", body);
  return response.status < 300 ? caller.waitUntilEnded(response.body.run_id, 40) : response;
};
const typeAt = async (url: string) => (await fetch(url)).headers.get("content-type");
const makeImage = async () => (await caller.generate({ prompt: "a boat", width: 256, height: 256, sync: true })).body;

describe("A model that only its schema describes", () => {
  it("makes a video from text, with the parameters as they were sent", async () => {
    const input = { prompt: "a boat lands", duration: "8s", generate_audio: true };
    const run = await create({ model: "fal:acme/boat-film", input, metadata: { order: "4711" } });
    expect(run.error).toBeNull();
    expect(run).toMatchObject({ status: "completed", operation: "runs.create", run_type: "model" });
    expect(run).toMatchObject({ model: "fal:acme/boat-film", provider: "fal", cost: null, warnings: [] });
    expect(run).toMatchObject({ metadata: { order: "4711" }, outputs: [{ media_type: "video/mp4" }] });
    expect(run.video_url).toBe(run.outputs[0].url);
    expect(run.result.video.url).toBe(run.outputs[0].url);
    expect(JSON.stringify(run)).not.toContain(fal.url);
    expect(fal.ledger.at(-1)!.request).toEqual(input);
    expect((await fetch(run.outputs[0].url)).headers.get("content-type")).toBe("video/mp4");
  });

  it("edits images of other runs, and its run becomes a child of the first", async () => {
    const made = await makeImage();
    const run = await create({
      model: "fal:acme/sketch/edit",
      input: { prompt: "at night", image_urls: [{ run_id: made.run_id }, made.run_id], num_images: 2 },
    });
    expect(run.error).toBeNull();
    expect(run).toMatchObject({ status: "completed", parent_run_id: made.run_id });
    expect(run.outputs.map((each: any) => each.media_type)).toEqual(["image/png", "image/png"]);
    expect(run.outputs[0].thumbnails).not.toBeNull();
    expect(run.outputs[0].provenance.status).toBe("marked");
    expect(run.result.images.map((each: any) => each.url)).toEqual(run.outputs.map((each: any) => each.url));
    const { request } = fal.ledger.at(-1)! as any;
    expect(request).toMatchObject({ prompt: "at night", num_images: 2 });
    for (const url of request.image_urls) expect(url).toMatch(/^data:image\/png;base64,/);
  });

  it("takes files in nested fields, as base64 and as URLs of this server", async () => {
    const made = await makeImage();
    const bytes = Buffer.from(await (await fetch(made.image_url)).arrayBuffer()).toString("base64");
    const input = {
      prompt: "a sketch",
      image_urls: [`data:image/png;base64,${bytes}`],
      elements: [{ reference_image_urls: [made.image_url] }],
      note_url: "https://example.com/page",
    };
    const run = await create({ model: "fal:acme/sketch/edit", input });
    expect(run.error).toBeNull();
    const { request } = fal.ledger.at(-1)! as any;
    expect(request.elements[0].reference_image_urls[0]).toMatch(/^data:image\/png;base64,/);
    expect(request.note_url).toBe("https://example.com/page");
    expect(run.inputs.input.image_urls[0]).toMatch(/^asset:/);
  });

  it("makes sound, and takes sound and a video of other runs", async () => {
    const [video, speech] = await Promise.all([
      create({ model: "fal:acme/boat-film", input: { prompt: "a face" } }),
      create({ model: "fal:acme/voice", input: { text: "hello" } }),
    ]);
    expect(speech.outputs).toMatchObject([{ media_type: "audio/wav", width: null, thumbnails: null }]);
    const run = await create({
      model: "fal:acme/lips",
      input: { video_url: { run_id: video.run_id }, audio_url: speech.outputs[0].url, sync_mode: "loop" },
    });
    expect(run.error).toBeNull();
    expect(run).toMatchObject({ status: "completed", outputs: [{ media_type: "video/mp4" }] });
    const { request } = fal.ledger.at(-1)! as any;
    expect(await typeAt(request.video_url)).toBe("video/mp4");
    expect(await typeAt(request.audio_url)).toBe("audio/wav");
    expect(request.sync_mode).toBe("loop");
    expect(run.parent_run_id).toBe(video.run_id);
    const inline = await create({
      model: "fal:acme/lips",
      input: {
        video_url: { run_id: video.run_id },
        audio_url: `data:audio/wav;base64,${createWave().toString("base64")}`,
      },
    });
    expect(inline.error).toBeNull();
    const sent = await fetch((fal.ledger.at(-1)! as any).request.audio_url);
    expect(Buffer.from(await sent.arrayBuffer())).toEqual(createWave());
  });

  it("makes files of any medium", async () => {
    const run = await create({ model: "fal:acme/chair-3d", input: { prompt: "a chair" } });
    expect(run.error).toBeNull();
    expect(run.outputs.map((each: any) => each.media_type)).toEqual([
      "model/gltf-binary",
      "image/png",
      "application/octet-stream",
    ]);
    expect(run.image_urls).toHaveLength(1);
    const scene = await fetch(run.outputs[0].url);
    expect([scene.status, scene.headers.get("content-disposition")?.split(";")[0]]).toEqual([200, "attachment"]);
  });

  it("returns text", async () => {
    const made = await makeImage();
    const run = await create({ model: "fal:acme/look", input: { image_url: made.run_id, question: "what?" } });
    expect(run).toMatchObject({ status: "completed", outputs: [], result: { answer: "the answer" } });
  });

  it("of Replicate runs in the pinned version, and its result need not be an object", async () => {
    const made = await makeImage();
    const run = await create({ model: "replicate:acme/draw", input: { prompt: "a boat", image: made.run_id } });
    expect(run.error).toBeNull();
    expect(run).toMatchObject({ status: "completed", provider: "replicate", outputs: [{ media_type: "image/png" }] });
    expect(run.result.output).toEqual([run.outputs[0].url]);
    expect(replicate.ledger.at(-1)!.request).toMatchObject({ version: "c0ffee01", input: { prompt: "a boat" } });
    const text = await create({ model: "replicate:acme/speak", input: { prompt: "hello" } });
    expect(text).toMatchObject({ status: "completed", outputs: [] });
    expect(text.result.output).toHaveLength(1);
  });

  it("refuses what its schema refuses, with pointers, before anything is paid or stored", async () => {
    const before = fal.ledger.length;
    const refused = await caller.post("/runs", {
      model: "fal:acme/boat-film",
      input: { prompt: "a boat", duration: "9s", fps: 24, sync_mode: true },
    });
    expect(refused.status).toBe(400);
    expect(refused.body.details.errors.map((each: any) => each.path).toSorted()).toEqual([
      "/input/duration",
      "/input/fps",
      "/input/sync_mode",
    ]);
    const noFile = await caller.post("/runs", { model: "fal:acme/look", input: { image_url: "no file" } });
    expect(noFile.body.details.errors).toMatchObject([{ path: "/input/image_url", code: "ambiguous_reference" }]);
    const unknown = await caller.post("/runs", { model: "fal:acme/boat-flim", input: { prompt: "a" } });
    expect(unknown.body.details.errors[0].message).toContain("fal:acme/boat-film");
    const priced = await caller.post("/runs", { model: "fal:acme/boat-film", input: { prompt: "a" }, max_cost: 2 });
    expect([priced.status, priced.body.code]).toEqual([402, "price_unknown"]);
    expect(fal.ledger).toHaveLength(before);
  });

  it("fails, and costs nothing, if the result is of another medium than announced or has no file", async () => {
    await add("fal:acme/boat-film", { price: 0.4 });
    fal.switches.result = "wrong-type";
    const wrong = await create({ model: "fal:acme/boat-film", input: { prompt: "a boat" } });
    fal.switches.result = "whole";
    expect(wrong).toMatchObject({ status: "failed", error: { code: "provider_output_invalid" }, outputs: [] });
    expect(JSON.stringify(wrong)).not.toContain(fal.url);
  });

  it("has the price that the operator names, in the estimate, the limit and the cost", async () => {
    await add("fal:acme/voice", { price: 0.25, aliases: ["voice"] });
    const request = { model: "voice", input: { text: "hello" } };
    const estimate = await caller.post("/runs/estimate", { operation: "runs.create", input: request });
    expect(estimate.body).toMatchObject({
      amount: 0.25,
      known: true,
      basis: [{ quantity: 1, unit_price: 0.25, price_version: "operator" }],
    });
    expect((await caller.post("/runs", { ...request, max_cost: 0.2 })).body.code).toBe("spend_limit_reached");
    const run = await create({ ...request, max_cost: 0.25 });
    expect(run).toMatchObject({ status: "completed", model: "fal:acme/voice", cost: { amount: 0.25 } });
  });

  it("is repeated with changes like any run", async () => {
    const run = await create({ model: "fal:acme/boat-film", input: { prompt: "a boat" } });
    const again = await caller.post(`/runs/${run.run_id}/rerun`, { changes: { input: { duration: "4s" } } });
    const ended = await caller.waitUntilEnded(again.body.run_id, 40);
    expect(ended).toMatchObject({ status: "completed", parent_run_id: run.run_id });
    expect(ended.inputs.input).toEqual({ prompt: "a boat", duration: "4s" });
  });

  it("survives the death of the worker, and is paid once", async () => {
    const before = fal.ledger.length;
    fal.switches.workMs = 4000;
    const { body } = await caller.post("/runs", { model: "fal:acme/boat-film", input: { prompt: "a storm" } });
    await expect.poll(() => fal.ledger.length, { timeout: 20_000 }).toBe(before + 1);
    await world.killAndRestart("worker");
    fal.switches.workMs = 50;
    const run = await caller.waitUntilEnded(body.run_id, 60);
    expect(run).toMatchObject({ status: "completed", outputs: [{ media_type: "video/mp4" }] });
    expect(fal.ledger).toHaveLength(before + 1);
  }, 90_000);
});

describe("The operator", () => {
  it("adds a model that did not exist before, and callers use it at once", async () => {
    fal.switches.published["acme/of-today"] = publishAtFal("acme/of-today", {
      input: { required: ["prompt"], properties: { prompt: { type: "string" } } },
      output: { properties: { image: { $ref: "#/components/schemas/Image" } } },
      schemas: { Image: FILE({ width: { type: "integer" } }) },
    });
    const added = await add("fal:acme/of-today", { aliases: ["of-today"] });
    expect(added).toMatchObject({ provider: "fal", media: ["image"], files: { output: [{ pointer: "/image/url" }] } });
    expect(await create({ model: "of-today", input: { prompt: "a boat" } })).toMatchObject({ status: "completed" });
    const found = await caller.get("/catalogue/models?q=today&media=image");
    expect(found.body.data.map((each: any) => each.name)).toEqual(["fal:acme/of-today", "of-today"]);
    const shown = await caller.get(`/catalogue/models/${encodeURIComponent("fal:acme/of-today")}`);
    expect(shown.body).toMatchObject({ schema_hash: added.schema_hash, example: { prompt: "…" } });
  });

  it("imports a new version of a model with the same schema, and keeps the price", async () => {
    const published = replicate.switches.published["acme/draw"] as { latest_version: { id: string } };
    expect((await add("replicate:acme/draw", { price: 0.5 })).version).toBe("c0ffee01");
    published.latest_version.id = "c0ffee09";
    expect(await add("replicate:acme/draw")).toMatchObject({ version: "c0ffee09", price: 0.5 });
    const run = await create({ model: "replicate:acme/draw", input: { prompt: "a boat" } });
    expect(run).toMatchObject({ status: "completed", cost: { amount: 0.5 } });
    expect(replicate.ledger.at(-1)!.request.version).toBe("c0ffee09");
  });

  it("sees that a provider refuses what the imported schema allows, until the model is imported again", async () => {
    const publish = (properties: object) => {
      fal.switches.published["acme/changing"] = publishAtFal("acme/changing", {
        input: { required: ["prompt"], properties: { prompt: { type: "string" }, ...properties } },
        output: { properties: { image: { $ref: "#/components/schemas/Image" } } },
        schemas: { Image: FILE() },
      });
    };
    const client = createProviderHttpClient();
    const enabled = [{ provider: falProvider, env: falProvider.env.parse(fakeFal.env(fal)) }];
    const check = () =>
      checkImportedModels({ DATABASE_URL: world.databaseUrl, DATABASE_POOL: 2 }, enabled, {
        ...{ send: client.send, clock: systemClock },
      });
    publish({ quality: { type: "string", enum: ["low", "high"] } });
    const before = await add("fal:acme/changing", { aliases: ["changing"] });
    expect([before.refused_at, (await check()).status]).toEqual([null, "pass"]);
    publish({ quality: { type: "string", enum: ["low"] } });
    const changed = "changing, fal:acme/changing have other schemas at their providers";
    expect(await check()).toMatchObject({ status: "warn", message: changed });
    const refused = await create({ model: "changing", input: { prompt: "a boat", quality: "high" } });
    expect(refused).toMatchObject({ status: "failed", error: { code: "provider_rejected_input" }, cost: null });
    const readModel = async () => (await caller.get("/catalogue/models/changing")).body;
    await expect.poll(async () => (await readModel()).refused_at).toMatch(/^20/);
    const listed = await caller.get("/catalogue/models?q=changing");
    expect(listed.body.data.every((each: any) => each.refused_at !== null)).toBe(true);
    expect((await check()).message).toBe(
      `changing, fal:acme/changing were refused inputs that their schemas allow; ${changed}`,
    );
    expect((await check()).fix).toBe("gesso models sync changing fal:acme/changing");
    const after = await add("fal:acme/changing", { aliases: ["changing"] });
    expect(after.schema_hash).not.toBe(before.schema_hash);
    expect([(await readModel()).refused_at, (await check()).status]).toEqual([null, "pass"]);
    await client.close();
    const explained = await operator.get(`/admin/runs/${refused.run_id}`);
    expect(explained.body.schema_hash).toBe(before.schema_hash);
  });

  it("sees no refusal once the same schema was imported again", async () => {
    const { refused_at } = await add("fal:acme/look");
    expect(refused_at).toBeNull();
    const made = await makeImage();
    fal.switches.refuse = {
      times: 1,
      status: 422,
      body: { detail: [{ loc: ["body"], msg: "no", type: "value_error" }] },
    };
    await create({ model: "fal:acme/look", input: { image_url: made.run_id } });
    const read = async () => (await caller.get(`/catalogue/models/${encodeURIComponent("fal:acme/look")}`)).body;
    await expect.poll(async () => (await read()).refused_at).toMatch(/^20/);
    await add("fal:acme/look");
    expect((await read()).refused_at).toBeNull();
  });

  it("removes a name, and its runs stay as they are", async () => {
    const run = await create({ model: "fal:acme/voice", input: { text: "hello" } });
    expect((await operator.delete("/catalogue/models/voice")).status).toBe(200);
    expect((await caller.post("/runs", { model: "voice", input: { text: "a" } })).status).toBe(400);
    expect((await caller.get(`/runs/${run.run_id}`)).body.outputs).toHaveLength(1);
  });

  it("receives the reason if a model cannot be imported", async () => {
    const refused = async (body: object) => (await operator.post("/catalogue/models", body)).body.details.errors[0];
    expect((await refused({ model: "fal:acme/none" })).message).toBe("fal has no model acme/none.");
    expect((await refused({ model: "luma:ray-2" })).message).toContain("luma is not connected");
    expect((await refused({ model: "fal:acme/odd", document: { paths: {} } })).path).toBe("/model");
  });
});

describe("The sandbox", () => {
  it("runs its own models without a key, for nothing, with an image and a video of it", async () => {
    await add("sandbox:replay/studio");
    await add("sandbox:replay/clip");
    const image = await create({
      model: "sandbox:replay/studio",
      input: { prompt: "a boat", width: 128, height: 128 },
    });
    expect(image.error).toBeNull();
    expect(image).toMatchObject({ cost: { amount: 0 }, outputs: [{ media_type: "image/png", width: 128 }] });
    const video = await create({
      model: "sandbox:replay/clip",
      input: { image_url: image.run_id, prompt: "it lands", duration: "1s" },
    });
    expect(video.error).toBeNull();
    expect(video).toMatchObject({ parent_run_id: image.run_id, outputs: [{ media_type: "video/mp4" }] });
    expect(video.result.video.url).toBe(video.video_url);
  });
});

describe("A URL in a field that is no file", () => {
  it("is never fetched", async () => {
    const asked: string[] = [];
    const listener = createServer((request, response) => {
      asked.push(request.url!);
      response.end("never");
    });
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/secret`;
    const run = await create({ model: "fal:acme/boat-film", input: { prompt: url } });
    expect(run).toMatchObject({ status: "completed" });
    expect((fal.ledger.at(-1)! as any).request.prompt).toBe(url);
    expect(asked).toEqual([]);
    listener.close();
  });
});

/** `npm run proof -- any-model` takes all endpoints, and more inputs of each. */
const ENDPOINTS = 8;

describe("Any endpoint of fal", () => {
  it("receives generated inputs as they were sent, and none that is wrong in one place", async () => {
    const seed = randomInt(2 ** 31);
    const all = listFalEndpoints();
    const chosen = Array.from({ length: ENDPOINTS }, (_, index) => all[(seed + index * 151) % all.length]!);
    const endpoints = chosen.map((endpoint) => {
      const imported = importModel("fal", endpoint.path, endpoint.document);
      if ("refused" in imported) throw new Error(imported.refused);
      return { ...endpoint, model: imported.model };
    });
    const sent = await sendInputs(world, fal, endpoints, { count: 1, seed, atOnce: 4 });
    expect(sent, `seed ${seed}`).toMatchObject({ problems: [], valid: ENDPOINTS, wrong: ENDPOINTS });
    expect(sent.completed).toBe(ENDPOINTS);
  });
});
