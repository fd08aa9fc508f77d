import sharp from "sharp";
import { beforeAll, describe, expect } from "vitest";
import { drawScene } from "../support/scene.ts";
import { it } from "./http-and-client.ts";
import {
  decodePixels,
  describeRefusal,
  download,
  expectGeneration,
  findNewestRunId,
  listSandboxImages,
  postAndWait,
  postRefused,
  REFUSED_PROMPT,
  sha256,
  solidImage,
  toDataUrl,
  withoutDelay,
} from "./response-checks.ts";
import { useSuite } from "./suite.ts";

const suite = useSuite();
const MODELS = ["/combine/nanobanana", "/combine/gemini-2.5"];
const RED = [255, 0, 0, 255];
const BLUE = [0, 0, 255, 255];

let red: Buffer;
let blue: Buffer;
let redRun: string;
let blueRun: string;
const pair = () => ({ images: [redRun, blueRun] });
const combined = async (fields: object) => {
  const run = await postAndWait(suite, "/combine", { ...pair(), sync: true, ...fields });
  return { run, ...(await decodePixels(await download(run.image_url))) };
};

beforeAll(async () => {
  [red, blue] = await Promise.all([solidImage("#ff0000"), solidImage("#0000ff")]);
  [redRun, blueRun] = await Promise.all([suite.uploadImage(red), suite.uploadImage(blue)]);
});

describe("images laid out by ourselves", () => {
  it("[CMB-001] two URLs are combined without a prompt, and the response is the generation output", async () => {
    const response = await suite.caller.post("/combine", { images: [suite.imageUrl("a"), suite.imageUrl("b")] });
    expect(response.status).toBe(202);
    expectGeneration(response.body);
    expect(await suite.caller.waitUntilEnded(response.body.run_id)).toMatchObject({
      status: "completed",
      run_type: "combine",
    });
  });

  it("[CMB-002] two files of a form are combined, and the response is the generation output", async () => {
    const response = await suite.caller.post("/combine", suite.form({ images: [red, blue], sync: "true" }));
    expect(response.status).toBe(200);
    expectGeneration(response.body);
    const { at } = await decodePixels(await download(response.body.data.image_url));
    expect([at(10, 10), at(100, 10)]).toEqual([RED, BLUE]);
  });

  it("[CMB-003] URLs can be mixed with run IDs in JSON, and with files in a form", async () => {
    const json = await postAndWait(suite, "/combine", { images: [suite.imageUrl(), redRun, toDataUrl(blue)] });
    expect(json.outputs[0]).toMatchObject({ width: 128 + 64 + 64, height: 96 });
    const form = await postAndWait(suite, "/combine", suite.form({ images: [redRun, suite.imageUrl(), blue] }));
    const { at, width } = await decodePixels(await download(form.image_url));
    expect([at(5, 48), at(width - 5, 48)]).toEqual([RED, BLUE]);
  });

  it("[CMB-006] all four modes complete", async () => {
    for (const mode of ["side-by-side", "stacked", "grid", "overlay"]) {
      expect((await combined({ mode })).run.inputs.mode).toBe(mode);
    }
  });

  it("[CMB-007] side-by-side is the default mode", async () => {
    expect((await combined({})).run.inputs.mode).toBe("side-by-side");
  });

  it("[CMB-008] a mode that does not exist is refused", async () => {
    const response = await suite.caller.post("/combine", { ...pair(), mode: "diagonal" });
    expect(describeRefusal(response)).toEqual([400, "validation_error", "/mode unknown_value"]);
  });

  it("[CMB-009] the size of the result follows from its images and the mode", async () => {
    const sizeOf = async (fields: object) => {
      const { width, height, run } = await combined({ gap: 0, ...fields });
      expect(run.outputs[0]).toMatchObject({ width, height });
      return [width, height];
    };
    expect(await sizeOf({ mode: "side-by-side" })).toEqual([128, 64]);
    expect(await sizeOf({ mode: "stacked" })).toEqual([64, 128]);
    expect(await sizeOf({ mode: "overlay" })).toEqual([64, 64]);
    const images = [redRun, blueRun, redRun, blueRun];
    expect(await sizeOf({ mode: "grid", images })).toEqual([128, 128]);
  });

  it("[CMB-010] sources keep the order in which they were given", async () => {
    const ahead = await combined({});
    const swapped = await combined({ images: [blueRun, redRun] });
    expect([ahead.at(10, 30), ahead.at(100, 30)]).toEqual([RED, BLUE]);
    expect([swapped.at(10, 30), swapped.at(100, 30)]).toEqual([BLUE, RED]);
  });

  it("[CMB-011] [CMB-012] a gap is so many pixels of the background's colour", async () => {
    const { width, height, at } = await combined({ gap: 8, background: "#00ff00" });
    expect([width, height]).toEqual([136, 64]);
    const row = Array.from({ length: width }, (_, x) => at(x, 32).join());
    expect(row.filter((pixel) => pixel === "0,255,0,255")).toHaveLength(8);
    expect([row[63], row[64], row[71], row[72]]).toEqual([RED.join(), "0,255,0,255", "0,255,0,255", BLUE.join()]);
  });

  it("[CMB-013] opacity weighs the upper image in overlay", async () => {
    expect((await combined({ mode: "overlay", opacity: 0 })).at(30, 30)).toEqual(RED);
    expect((await combined({ mode: "overlay", opacity: 1 })).at(30, 30)).toEqual(BLUE);
    const [r, , b] = (await combined({ mode: "overlay", opacity: 0.5 })).at(30, 30);
    expect([Math.round(r! / 20), Math.round(b! / 20)]).toEqual([6, 6]);
  });

  it("[CMB-014] the output has the requested format, one of three", async () => {
    for (const output_format of ["png", "jpeg", "webp"]) {
      const { run } = await combined({ output_format });
      expect(run.outputs[0].media_type).toBe(`image/${output_format}`);
      expect((await sharp(await download(run.image_url)).metadata()).format).toBe(output_format);
    }
    const gif = await suite.caller.post("/combine", { ...pair(), output_format: "gif" });
    expect(describeRefusal(gif)).toEqual([400, "validation_error", "/output_format unknown_value"]);
  });

  it("[CMB-023] two to ten images are accepted, one and eleven are rejected", async () => {
    const images = (count: number) => ({ images: Array.from({ length: count }, () => redRun) });
    const before = await findNewestRunId(suite);
    expect(describeRefusal(await suite.caller.post("/combine", images(1)))).toEqual([
      400,
      "validation_error",
      "/images too_few_items",
    ]);
    expect(describeRefusal(await suite.caller.post("/combine", images(11)))).toEqual([
      400,
      "validation_error",
      "/images too_many_items",
    ]);
    expect(await findNewestRunId(suite)).toBe(before);
    expect((await combined(images(2))).width).toBe(128);
    expect((await combined(images(10))).width).toBe(640);
  });

  it("[CMB-025] by default uncovered pixels are transparent in a png and white in a jpeg", async () => {
    expect((await combined({ gap: 8 })).at(68, 30)[3]).toBe(0);
    const jpeg = (await combined({ gap: 16, output_format: "jpeg" })).at(72, 30);
    expect(Math.min(...jpeg)).toBeGreaterThan(250);
  });
});

describe("images combined by a model", () => {
  const urls = () => [suite.imageUrl("a"), suite.imageUrl("b")];
  const bothBodies = async (path: string) => {
    const json = await suite.caller.post(path, { prompt: withoutDelay("both in one"), image_urls: urls() });
    const form = await suite.caller.post(
      path,
      suite.form({ prompt: withoutDelay("both in one"), image_urls: JSON.stringify(urls()) }),
    );
    for (const response of [json, form]) {
      expect(response.status).toBe(202);
      expectGeneration(response.body);
      const run = await suite.caller.waitUntilEnded(response.body.run_id);
      expect(run).toMatchObject({ status: "completed", inputs: { image_urls: urls() } });
    }
  };

  it("[CMB-015] nanobanana accepts a prompt and two URLs, as JSON and as a form", () =>
    bothBodies("/combine/nanobanana"));

  it("[CMB-016] gemini-2.5 accepts a prompt and two URLs, as JSON and as a form", () =>
    bothBodies("/combine/gemini-2.5"));

  it("[CMB-017] a prompt is required", async () => {
    for (const path of MODELS) {
      const response = await suite.caller.post(path, { image_urls: urls() });
      expect(describeRefusal(response)).toEqual([400, "validation_error", "/prompt required"]);
    }
  });

  it("[CMB-018] only URLs, only run IDs, and both in one request are accepted", async () => {
    for (const path of MODELS) {
      const lists = [{ image_urls: urls() }, { run_ids: [redRun, blueRun] }];
      for (const sources of [...lists, { ...lists[0], ...lists[1] }]) {
        const run = await postRefused(suite, path, { prompt: REFUSED_PROMPT, ...sources });
        expect(run.inputs).toMatchObject(sources);
      }
    }
  });

  it("[CMB-019] repeated file parts named images are the sources of a form, in their order", async () => {
    const scene = await drawScene();
    for (const path of MODELS) {
      const run = await postRefused(suite, path, suite.form({ prompt: REFUSED_PROMPT, images: [scene, blue] }));
      expect(run.inputs.images).toHaveLength(2);
      expect(await listSandboxImages(suite, run.run_id)).toEqual([sha256(scene), sha256(blue)]);
      const drawn = await postAndWait(suite, path, suite.form({ prompt: withoutDelay("both"), images: [blue, scene] }));
      expect(await listSandboxImages(suite, drawn.run_id)).toEqual([sha256(blue), sha256(scene)]);
    }
  });

  it("[CMB-020] no image at all, and a single file, are refused", async () => {
    for (const path of MODELS) {
      const none = describeRefusal(await suite.caller.post(path, { prompt: "x" }));
      const one = describeRefusal(await suite.caller.post(path, suite.form({ prompt: "x", images: red })));
      for (const refused of [none, one]) expect(refused.slice(0, 2)).toEqual([400, "validation_error"]);
    }
  });

  it("[CMB-021] an aspect ratio may be given and is shown in the inputs", async () => {
    for (const path of MODELS) {
      const { inputs } = await postRefused(suite, path, {
        prompt: REFUSED_PROMPT,
        image_urls: urls(),
        aspect_ratio: "3:2",
      });
      expect(inputs.aspect_ratio).toBe("3:2");
      expect(
        (await postRefused(suite, path, { prompt: REFUSED_PROMPT, image_urls: urls() })).inputs,
      ).not.toHaveProperty("aspect_ratio");
    }
  });

  it("[CMB-024] a list of addresses has two to ten entries; a mixed list may hold an address and a run", async () => {
    const send = (count: number) =>
      suite.caller.post("/combine/gemini-2.5", {
        prompt: "x",
        image_urls: Array.from({ length: count }, () => suite.imageUrl()),
      });
    expect(describeRefusal(await send(1))).toEqual([400, "validation_error", "/image_urls too_few_items"]);
    expect(describeRefusal(await send(11))).toEqual([400, "validation_error", "/image_urls too_many_items"]);
    const images = [suite.imageUrl(), redRun];
    expect((await postRefused(suite, "/combine/gemini-2.5", { prompt: REFUSED_PROMPT, images })).inputs.images).toEqual(
      images,
    );
  });
});

describe("where the sources of a combination are to be found", () => {
  const all = async () => [
    await postAndWait(suite, "/combine", pair()),
    ...(await Promise.all(
      MODELS.map((path) => postAndWait(suite, path, { prompt: withoutDelay("both"), run_ids: [redRun, blueRun] })),
    )),
  ];

  it("[CMB-004] a combination is of the type combine and has no parent, also when all its sources are runs", async () => {
    for (const run of await all()) expect(run).toMatchObject({ run_type: "combine", parent_run_id: null });
  });

  it("[CMB-005] every source run is in the inputs and is joined in the tree by an edge that is no parent edge", async () => {
    for (const run of await all()) {
      expect(run.inputs.images ?? run.inputs.run_ids).toEqual([redRun, blueRun]);
      const { edges } = (await suite.caller.get(`/runs/${run.run_id}/tree`)).body;
      for (const source of [redRun, blueRun]) {
        const joined = edges.filter((edge: any) => edge.from === run.run_id && edge.to === source);
        expect(joined.map((edge: any) => edge.kind)).toEqual(["reference"]);
      }
    }
  });
});
