import sharp from "sharp";
import { beforeAll, describe, expect } from "vitest";
import { drawScene } from "../support/scene.ts";
import { it } from "./http-and-client.ts";
import {
  decodePixels,
  describeRefusal,
  download,
  expectRun,
  fetchRun,
  imageWithBehaviour,
  listPixels,
  postAndWait,
  postForBytes,
  postRefused,
  REFUSED_PROMPT,
  toDataUrl,
  withoutDelay,
} from "./response-checks.ts";
import { useSuite } from "./suite.ts";

const suite = useSuite();
const SEGMENT = "/edits/segment";
const REMOVE_BG = "/edits/remove-bg";
const BACKGROUND = "/edits/background-remove";
const REMOVE = "/edits/generative-remove";
const EXTRACT = "/edits/extract";
const CIRCLE = withoutDelay("the red circle");
/** Somewhere in the circle of the scene, and in its square. */
const [IN_CIRCLE, IN_SQUARE] = [
  [32, 48],
  [96, 48],
] as const;

let sourceImage: Buffer;
let mirrored: Buffer;
let source: string;
/** The same scene the other way round: a parent that must not be mistaken for the source. */
let parent: string;
beforeAll(async () => {
  sourceImage = await drawScene();
  mirrored = await sharp(sourceImage).flop().png().toBuffer();
  [source, parent] = await Promise.all([suite.uploadImage(sourceImage), suite.uploadImage(mirrored)]);
});

const url = () => suite.imageUrl();
const bytes = async (path: string, body: unknown) => {
  const response = await postForBytes(suite, path, body);
  expect([response.status, response.body]).toEqual([200, null]);
  return { ...response, ...(await decodePixels(response.bytes)), run: await fetchRun(suite, response) };
};
const opened = async (address: string) => decodePixels(await download(address));
/** A file part is what a form is about; JSON only needs one of two names. */
const noSource = [400, "validation_error", expect.stringMatching(/^\/image_?[uU]rl at_least_one_of$/)];

/** Both ways to name a source: each alone is accepted, and the run becomes the parent. */
async function typeAndParent(path: string, fields: object, type: string): Promise<void> {
  const child = await postRefused(suite, path, { ...fields, run_id: source });
  expect(child).toMatchObject({ run_type: type, parent_run_id: source });
  const orphan = await postRefused(suite, path, { ...fields, image_url: url() });
  expect(orphan).toMatchObject({ run_type: type, parent_run_id: null });
}

describe("segment", () => {
  const find = (fields: object = {}) => ({ prompt: CIRCLE, imageUrl: url(), ...fields });

  it("[SEG-001] [SEG-009] JSON returns the bytes of an image of the stated type, and the run ID", async () => {
    const response = await bytes(SEGMENT, find());
    expect(response.headers.get("x-run-id")).toMatch(/^[0-9a-f-]{36}$/);
    const { format } = await sharp(response.bytes).metadata();
    expect(response.headers.get("content-type")).toBe(`image/${format}`);
    expect(() => JSON.parse(String(response.bytes))).toThrow();
    expect([response.width, response.height]).toEqual([128, 96]);
  });

  it("[SEG-002] [SEG-005] a run alone is worked on and is the parent; without one there is none", async () => {
    const child = await bytes(SEGMENT, { prompt: CIRCLE, run_id: source });
    expect(child.run).toMatchObject({ run_type: "segment", parent_run_id: source });
    expect([child.at(...IN_CIRCLE)[0], child.at(...IN_SQUARE)[0]]).toEqual([255, 0]);
    expect((await bytes(SEGMENT, find())).run).toMatchObject({ run_type: "segment", parent_run_id: null });
  });

  it("[SEG-003] a prompt is required in JSON and in a form", async () => {
    for (const body of [{ imageUrl: url() }, suite.form({ image: sourceImage })]) {
      expect(describeRefusal(await suite.caller.post(SEGMENT, body))).toEqual([
        400,
        "validation_error",
        "/prompt required",
      ]);
    }
  });

  it("[SEG-004] JSON needs an address or a run", async () => {
    expect(describeRefusal(await suite.caller.post(SEGMENT, { prompt: "x" }))).toEqual(noSource);
  });

  it("[SEG-006] [SEG-012] with both, the image at the address is segmented and the run is the parent", async () => {
    const { run, at } = await bytes(SEGMENT, find({ run_id: parent }));
    expect(run.parent_run_id).toBe(parent);
    expect([at(...IN_CIRCLE)[0], at(...IN_SQUARE)[0]]).toEqual([255, 0]);
  });

  it("[SEG-007] the form needs a file", async () => {
    const response = await suite.caller.post(SEGMENT, suite.form({ prompt: "x", run_id: source }));
    expect(describeRefusal(response)).toEqual([400, "validation_error", "/image required"]);
  });

  it("[SEG-008] the form also accepts run_id and filename, and the run is the parent", async () => {
    const form = suite.form({ prompt: CIRCLE, image: sourceImage, run_id: parent, filename: "scene.png" });
    const { run, at } = await bytes(SEGMENT, form);
    expect([run.parent_run_id, run.inputs.filename]).toEqual([parent, "scene.png"]);
    expect(at(...IN_CIRCLE)[0]).toBe(255);
    expect((await bytes(SEGMENT, suite.form({ prompt: CIRCLE, image: sourceImage }))).run.parent_run_id).toBeNull();
  });

  it("[SEG-010] the field's name is imageUrl", async () => {
    const response = await suite.caller.post(SEGMENT, { prompt: "x", image_url: url(), run_id: source });
    expect(describeRefusal(response)).toEqual([400, "validation_error", "/image_url unknown_field"]);
  });

  it("[SEG-013] with sync false the response is the unfinished run as JSON", async () => {
    const response = await suite.caller.post(SEGMENT, find({ sync: false }));
    expect(response.status).toBe(202);
    expectRun(response.body);
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  });

  it("a run that finds nothing fails with one code, which the response has too", async () => {
    const response = await postForBytes(suite, SEGMENT, find({ prompt: withoutDelay("the purple bicycle") }));
    expect([response.status, response.body.code]).toEqual([422, "provider_rejected_input"]);
    expect(response.body.details).toMatchObject({ reason: "nothing_found", run_id: expect.any(String) });
    const run = await fetchRun(suite, response);
    expect([run.status, run.error]).toMatchObject([
      "failed",
      { code: "provider_rejected_input", details: { reason: "nothing_found" } },
    ]);
  });

  it("[SEG-014] a run that fails within the call returns an error that names it", async () => {
    const response = await postForBytes(suite, SEGMENT, find({ prompt: "[sandbox:fail,delay=0] x" }));
    expect([response.status, response.body.code]).toEqual([502, "provider_error"]);
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    expect(response.body.details.run_id).toBe(response.headers.get("x-run-id"));
    expect((await suite.caller.get(`/runs/${response.body.details.run_id}`)).body.status).toBe("failed");
  });
});

describe("remove-bg, which returns the image", () => {
  const isCutOut = ({ at }: { at(x: number, y: number): number[] }) => [at(2, 2)[3], at(...IN_CIRCLE)[3]];

  it("[RBG-001] [RBG-007] JSON returns a PNG with a transparent background, and the run ID", async () => {
    const response = await bytes(REMOVE_BG, { imageUrl: url() });
    expect(response.headers.get("content-type")).toBe("image/png");
    expect((await sharp(response.bytes).metadata()).format).toBe("png");
    expect([response.channels, ...isCutOut(response)]).toEqual([4, 0, 255]);
    expect(response.run.run_id).toBe(response.headers.get("x-run-id"));
  });

  it("[RBG-002] [RBG-004] a run alone is worked on and is the parent; without one there is none", async () => {
    const child = await bytes(REMOVE_BG, { run_id: source });
    expect(child.run).toMatchObject({ run_type: "background-removal", parent_run_id: source });
    expect(isCutOut(child)).toEqual([0, 255]);
    expect((await bytes(REMOVE_BG, { imageUrl: url() })).run).toMatchObject({
      run_type: "background-removal",
      parent_run_id: null,
    });
  });

  it("[RBG-003] JSON needs an address or a run", async () => {
    expect(describeRefusal(await suite.caller.post(REMOVE_BG, {}))).toEqual(noSource);
  });

  it("[RBG-005] the form needs a file", async () => {
    const response = await suite.caller.post(REMOVE_BG, suite.form({ run_id: source }));
    expect(describeRefusal(response)).toEqual([400, "validation_error", "/image required"]);
  });

  it("[RBG-006] [RBG-009] a file has priority over the run, which is the parent; a filename may be given", async () => {
    const red = await sharp({ create: { width: 80, height: 80, channels: 3, background: "#f0f0f0" } })
      .composite([{ input: { create: { width: 30, height: 30, channels: 3, background: "#d01010" } } }])
      .png()
      .toBuffer();
    const form = suite.form({ image: red, run_id: parent, filename: "red.png" });
    const { run, width, height, at } = await bytes(REMOVE_BG, form);
    expect([run.parent_run_id, run.inputs.filename]).toEqual([parent, "red.png"]);
    expect([width, height, at(2, 2)[3], at(40, 40)[3]]).toEqual([80, 80, 0, 255]);
  });
});

describe("background-remove, which returns a URL", () => {
  it("[BGR-001] [BGR-002] [BGR-007] [BGR-008] it waits by default and returns the URL of the transparent image", async () => {
    const { status, headers, body } = await suite.caller.post(BACKGROUND, { image_url: url() });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^application\/json/);
    expect(body).toEqual({ url: expect.stringMatching(/^http/), runId: headers.get("x-run-id") });
    const { channels, at } = await opened(body.url);
    expect([channels, at(2, 2)[3], at(...IN_CIRCLE)[3]]).toEqual([4, 0, 255]);
    expect((await suite.caller.get(`/runs/${body.runId}`)).body).toMatchObject({
      run_id: body.runId,
      status: "completed",
      run_type: "background-removal",
    });
  });

  it("[BGR-003] with sync false the response is 202 without a URL", async () => {
    const slow = await imageWithBehaviour(suite, { delay: 2 });
    const { status, body } = await suite.caller.post(BACKGROUND, { image_url: slow.url, sync: false });
    expect([status, body]).toEqual([202, { url: null, runId: expect.stringMatching(/^[0-9a-f-]{36}$/) }]);
    expect((await suite.caller.waitUntilEnded(body.runId)).status).toBe("completed");
  });

  it("[BGR-004] [BGR-005] [BGR-006] a run alone is the parent, an address alone has none, and one of them is needed", async () => {
    const child = (await suite.caller.post(BACKGROUND, { run_id: source })).body;
    expect(child).toMatchObject({ url: expect.stringMatching(/^http/), parentRunId: source });
    expect((await suite.caller.get(`/runs/${child.runId}`)).body).toMatchObject({
      run_type: "background-removal",
      parent_run_id: source,
    });
    const orphan = (await suite.caller.post(BACKGROUND, { image_url: url() })).body;
    expect(orphan.url).toMatch(/^http/);
    expect(orphan).not.toHaveProperty("parentRunId");
    expect(describeRefusal(await suite.caller.post(BACKGROUND, {}))).toEqual(noSource);
  });
});

describe("generative remove", () => {
  const declined = (fields: object = {}) => ({ prompt: REFUSED_PROMPT, run_id: source, ...fields });

  it("[GRM-001] an address and a prompt are accepted, and what the prompt names is gone in the end", async () => {
    const response = await suite.caller.post(REMOVE, { image_url: url(), prompt: CIRCLE });
    expect(response.status).toBe(202);
    expectRun(response.body);
    const run = await suite.caller.waitUntilEnded(response.body.run_id);
    const [red, green] = (await opened(run.image_url)).at(...IN_CIRCLE);
    expect(red! - green!).toBeLessThan(60);
  });

  it("[GRM-002] the run is a generative-remove whose parent is the given run", () =>
    typeAndParent(REMOVE, { prompt: REFUSED_PROMPT }, "generative-remove"));

  it("[GRM-003] [GRM-004] a prompt and a source are required", async () => {
    const speechless = await suite.caller.post(REMOVE, { run_id: source });
    expect(describeRefusal(speechless)).toEqual([400, "validation_error", "/prompt required"]);
    expect(describeRefusal(await suite.caller.post(REMOVE, { prompt: "x" }))).toEqual(noSource);
    for (const alone of [{ image_url: url() }, { run_id: source }]) {
      expect((await postRefused(suite, REMOVE, { prompt: REFUSED_PROMPT, ...alone })).inputs).toMatchObject(alone);
    }
  });

  it("[GRM-005] [GRM-006] by default shadows are removed too, and only one match", async () => {
    expect((await postRefused(suite, REMOVE, declined())).inputs).toMatchObject({
      remove_shadow: true,
      multiple: false,
    });
  });

  it("[GRM-007] remove_shadow and multiple are true or false, and no text", async () => {
    for (const field of ["remove_shadow", "multiple"]) {
      for (const value of [true, false]) {
        expect((await postRefused(suite, REMOVE, declined({ [field]: value }))).inputs[field]).toBe(value);
      }
      const text = await suite.caller.post(REMOVE, declined({ [field]: "true" }));
      expect(describeRefusal(text)).toEqual([400, "validation_error", `/${field} invalid_type`]);
    }
  });

  it("[GRM-009] with both, the image at the address is used and the run is the parent", async () => {
    const run = await postAndWait(suite, REMOVE, { prompt: CIRCLE, image_url: url(), run_id: parent });
    expect(run.parent_run_id).toBe(parent);
    const after = await opened(run.image_url);
    expect(after.at(...IN_SQUARE)).toEqual((await decodePixels(sourceImage)).at(...IN_SQUARE));
  });
});

describe("extract", () => {
  const extracted = async (fields: object = {}) => {
    const body = { prompt: CIRCLE, run_id: source, sync: true, ...fields };
    const response = await suite.caller.post(EXTRACT, body);
    expect([response.status, response.body.error]).toEqual([200, null]);
    return response.body;
  };
  const greysOf = async (address: string) => listPixels(await opened(address)).map(([grey]) => grey!);

  it("[EXT-001] a URL and a prompt are accepted, and objects are beside the Run shape", async () => {
    const response = await suite.caller.post(EXTRACT, { image_url: url(), prompt: REFUSED_PROMPT });
    expect(response.status).toBe(202);
    expectRun(response.body);
    expect(response.body.objects).toEqual([]);
    expect((await extracted({ image_url: url() })).objects).toHaveLength(1);
  });

  it("[EXT-002] the run is an extract whose parent is the given run", () =>
    typeAndParent(EXTRACT, { prompt: REFUSED_PROMPT }, "extract"));

  it("[EXT-003] [EXT-004] a prompt and a source are required", async () => {
    const speechless = await suite.caller.post(EXTRACT, { run_id: source });
    expect(describeRefusal(speechless)).toEqual([400, "validation_error", "/prompt required"]);
    expect(describeRefusal(await suite.caller.post(EXTRACT, { prompt: "x" }))).toEqual(noSource);
    for (const alone of [{ image_url: url() }, { run_id: source }]) {
      expect((await postRefused(suite, EXTRACT, { prompt: REFUSED_PROMPT, ...alone })).inputs).toMatchObject(alone);
    }
  });

  it("[EXT-011] the alpha of the source is kept unless preserve_alpha is false", async () => {
    // The circle of the scene is half transparent: only an image that keeps its alpha shows that.
    const { data, info } = await sharp(sourceImage).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
    for (let at = 0; at < data.length; at += 4) if (data[at]! > 0xd0 && data[at + 1]! < 0x20) data[at + 3] = 128;
    const glass = await sharp(data, { raw: info }).png().toBuffer();
    const image_url = toDataUrl(glass);
    const kept = await extracted({ image_url });
    expect(kept.inputs.preserve_alpha).toBe(true);
    const [alpha, opaque] = [await opened(kept.image_url), await extracted({ image_url, preserve_alpha: false })];
    expect([alpha.channels, alpha.at(...IN_CIRCLE)[3], alpha.at(...IN_SQUARE)[3]]).toEqual([4, 128, 0]);
    expect(opaque.inputs.preserve_alpha).toBe(false);
    expect((await opened(opaque.image_url)).at(...IN_CIRCLE)[3]).toBe(255);
  });

  it("[EXT-005] [EXT-009] [EXT-011] [EXT-012] one object is cut out with its alpha by default", async () => {
    const run = await extracted();
    expect(run.inputs).toMatchObject({ mode: "extract", multiple: false, preserve_alpha: true, invert: false });
    expect(run.objects).toHaveLength(1);
    const { channels, at } = await opened(run.image_url);
    expect([channels, at(...IN_CIRCLE)[3], at(...IN_SQUARE)[3], at(2, 2)[3]]).toEqual([4, 255, 0, 0]);
  });

  it("[EXT-006] content means the same as extract", async () => {
    const [cut, content] = [await extracted({ mode: "extract" }), await extracted({ mode: "content" })];
    const shas = (run: any) => run.outputs.map((output: any) => output.sha256);
    expect(shas(content)).toEqual(shas(cut));
    expect(shas(cut)).toHaveLength(1);
  });

  it("[EXT-007] masks are black and white and as large as the source", async () => {
    const run = await extracted({ mode: "mask", multiple: true, prompt: withoutDelay("shapes") });
    expect(run.outputs.length).toBeGreaterThan(0);
    for (const output of run.outputs) {
      expect([output.width, output.height]).toEqual([128, 96]);
      expect(new Set(await greysOf(output.url))).toEqual(new Set([0, 255]));
      expect(listPixels(await opened(output.url)).every(([r, g, b, a]) => r === g && g === b && a === 255)).toBe(true);
    }
  });

  it("[EXT-008] another mode is refused", async () => {
    const response = await suite.caller.post(EXTRACT, { prompt: "x", run_id: source, mode: "cutout" });
    expect(describeRefusal(response)).toEqual([400, "validation_error", "/mode unknown_value"]);
  });

  it("[EXT-010] with multiple every match is an object of its own", async () => {
    const shape = (x: number) => `<circle cx="${x}" cy="48" r="18" fill="#e01020"/>`;
    const two = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="128" height="96">
      <rect width="128" height="96" fill="#808080"/>${shape(32)}${shape(96)}</svg>`);
    const image_url = toDataUrl(await sharp(two).png().toBuffer());
    const run = await extracted({ image_url, multiple: true, prompt: withoutDelay("red circles") });
    expect(run.objects).toHaveLength(2);
    expect(run.outputs).toHaveLength(2);
    expect((await extracted({ image_url, prompt: withoutDelay("red circles") })).objects).toHaveLength(1);
  });

  it("[EXT-013] an inverted mask is the rest of the mask", async () => {
    const [mask, rest] = [await extracted({ mode: "mask" }), await extracted({ mode: "mask", invert: true })];
    const [greys, others] = [await greysOf(mask.image_url), await greysOf(rest.image_url)];
    expect(others).toEqual(greys.map((grey) => 255 - grey));
    expect(greys.filter((grey) => grey === 255).length).toBeGreaterThan(500);
  });

  it("mask and box of an object are those of what was extracted, also inverted", async () => {
    const [[whole], [rest]] = [(await extracted()).objects, (await extracted({ invert: true })).objects];
    const [greys, others] = [await greysOf(whole.mask_url), await greysOf(rest.mask_url)];
    expect(others).toEqual(greys.map((grey) => 255 - grey));
    expect(rest.box).toEqual({ x: 0, y: 0, width: 128, height: 96 });
    expect(whole.box.width).toBeLessThan(80);
    const { at } = await opened(rest.image_url);
    expect([at(...IN_CIRCLE)[3], at(...IN_SQUARE)[3]]).toEqual([0, 255]);
  });

  it("a run that finds nothing completes without objects, also inverted and as masks", async () => {
    for (const fields of [{}, { invert: true }, { mode: "mask", multiple: true }]) {
      const run = await extracted({ prompt: withoutDelay("the purple bicycle"), ...fields });
      expect([run.status, run.objects, run.outputs, run.image_url]).toEqual(["completed", [], [], null]);
    }
  });

  it("[EXT-014] with both, the image at the address is used and the run is the parent", async () => {
    const run = await extracted({ image_url: url(), run_id: parent });
    expect(run.parent_run_id).toBe(parent);
    const { at } = await opened(run.image_url);
    expect([at(...IN_CIRCLE)[3], at(...IN_SQUARE)[3]]).toEqual([255, 0]);
  });

  it("[EXT-015] an object has its name, score, box, file and mask", async () => {
    const [object] = (await extracted()).objects;
    expect(Object.keys(object).sort()).toEqual(["asset_id", "box", "image_url", "mask_url", "name", "score"]);
    expect(object).toMatchObject({ name: expect.stringContaining("red circle"), score: expect.any(Number) });
    const { x, y, width, height } = object.box;
    expect([x <= 12, y <= 28, x + width >= 52, y + height >= 68, x + width < 80]).toEqual(Array(5).fill(true));
    expect((await opened(object.mask_url)).at(...IN_CIRCLE).slice(0, 3)).toEqual([255, 255, 255]);
    const before = await decodePixels(sourceImage);
    expect((await opened(object.image_url)).at(...IN_CIRCLE)).toEqual(before.at(...IN_CIRCLE));
  });
});
