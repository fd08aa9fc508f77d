// Imported models through the client: their results have files of any medium.
import { afterAll, beforeAll, expect, expectTypeOf, it } from "vitest";
import type { FakeVendor } from "../../server/test/fake-vendors/fake-vendor.ts";
import { fakeFal } from "../../server/test/fake-vendors/fal.ts";
import { falDocument } from "../../server/test/model-schemas/documents.ts";
import { startTestEnvironment, type TestEnvironment } from "../../server/test/support/test-environment.ts";
import { type Client, createClient, type FinishedRun, type Output, ValidationError } from "../src/index.ts";

const MODEL = "fal:acme/chair-3d";
const text = { type: "string" };
const FILE = { type: "object", required: ["url"], properties: { url: text, content_type: text } };
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

let fal: FakeVendor;
let world: TestEnvironment;
let client: Client;

beforeAll(async () => {
  fal = await fakeFal.start();
  fal.switches.published["acme/chair-3d"] = falDocument(
    "acme/chair-3d",
    { required: ["prompt"], properties: { prompt: text, image_url: text } },
    {
      output: { properties: { model_glb: ref("File"), audio: ref("AudioFile"), thumbnail: ref("Image") } },
      definitions: { File: FILE, AudioFile: FILE, Image: FILE },
    },
  );
  world = await startTestEnvironment({ env: fakeFal.env(fal) });
  client = createClient({ baseUrl: world.url, apiKey: world.key, logLevel: "off" });
}, 120_000);
afterAll(async () => {
  await world?.stop();
  await fal?.close();
}, 60_000);

it("imports a model, finds it and describes it", async () => {
  const added = await client.system.importModel({ model: MODEL, aliases: ["chair"], price: 0.5 });
  expect(added).toMatchObject({ model: MODEL, price: 0.5, order: ["prompt", "image_url"] });
  const found = await client.catalogue.listModels({ q: "chair" }).toArray({ limit: 10 });
  expect(found.map(({ name }) => name)).toEqual(["chair", MODEL]);
  // The name has a colon and slashes, and is one part of a path.
  expect(await client.catalogue.getModel(MODEL)).toMatchObject({ name: MODEL, schema_hash: added.schema_hash });
});

it("waits for a run whose outputs are files of any medium", async () => {
  const drawn = await client.images.generate({ prompt: "a chair", width: 64, height: 64 }).wait();
  const input = { prompt: "a chair", image_url: { run_id: drawn.run_id } };
  const run = await client.runs.create({ model: "chair", input, max_cost: 0.5 }).wait();
  expectTypeOf(run).toEqualTypeOf<FinishedRun>();
  expectTypeOf(run.outputs).toEqualTypeOf<Output[]>();
  expect(run).toMatchObject({ status: "completed", model: MODEL, parent_run_id: drawn.run_id, cost: { amount: 0.5 } });
  const types = run.outputs.map(({ media_type }) => media_type).toSorted();
  expect(types).toEqual(["audio/wav", "image/png", "model/gltf-binary"]);
  expect([run.images.length, run.video]).toEqual([1, null]);
  expect(Buffer.from(await run.model3d!.bytes().then((bytes) => bytes.slice(0, 4))).toString()).toBe("glTF");
  expect((await run.audio!.blob()).type).toBe("audio/wav");
  expect(run.files.map(({ url }) => url)).toEqual(run.outputs.map(({ url }) => url));
  expect(run.result).toMatchObject({ model_glb: { url: run.model3d!.url } });
});

it("never shows a part of the provider's result in the place of the run's own fields and files", async () => {
  const run = await client.runs.create({ model: "chair", input: { prompt: "a chair" } }).wait();
  // The provider calls its sound `audio` too.
  expect(run.result).toMatchObject({ audio: { url: run.audio!.url } });
  expect(typeof run.audio!.saveTo).toBe("function");
  expect(run).toHaveProperty("thumbnail.url", run.image!.url);
  expect(run.status).toBe("completed");
});

it("throws the pointers of an invalid input", async () => {
  const invalid = client.runs.create({ model: "chair", input: { promt: "a chair" } });
  const error = await invalid.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(ValidationError.isInstance(error) && error.fieldErrors.map(({ path }) => path).toSorted()).toEqual([
    "/input/prompt",
    "/input/promt",
  ]);
});
