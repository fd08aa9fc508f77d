import { createHash } from "node:crypto";
import sharp from "sharp";
import { beforeAll, describe, expect } from "vitest";
import { drawScene } from "../support/scene.ts";
import { findSandboxJob } from "./expectations.ts";
import { it } from "./http-and-client.ts";
import {
  callSandbox,
  countDifferentPixels,
  decodePixels,
  describeRefusal,
  download,
  expectGeneration,
  expectRun,
  findNewestRunId,
  listSandboxRequests,
  postAndWait,
  postRefused,
  REFUSED_PROMPT,
  rightHalfMask,
  solidImage,
  toDataUrl,
  withoutDelay,
} from "./response-checks.ts";
import { useSuite } from "./suite.ts";

const suite = useSuite();
const EDITS = ["/edits/vendora", "/edits/nanobanana", "/edits/gemini-2.5"];
const MASKED = ["/edits/vendora", "/edits/gemini-2.5"];
const FLUX = "/edits/flux-kontext";
const isLeft = (x: number) => x < 64;

let sourceImage: Buffer;
let mask: Buffer;
let source: string;
let reference: string;
beforeAll(async () => {
  [sourceImage, mask] = await Promise.all([drawScene(), rightHalfMask()]);
  [source, reference] = await Promise.all([
    suite.uploadImage(sourceImage),
    suite.uploadImage(await solidImage("#20c040")),
  ]);
});

const flux = (fields: object = {}) => ({
  original_run_id: source,
  prompt: REFUSED_PROMPT,
  model: "flux-kontext-max",
  ...fields,
});
const shaOf = (run: any) => run.outputs[0].sha256;

/** JSON and form give the same kind of response, and both runs produce an image. */
async function bothBodies(path: string, expectShape: (run: any) => void): Promise<void> {
  const fields = { prompt: withoutDelay("make it snow"), image_url: suite.imageUrl() };
  for (const body of [fields, suite.form(fields)]) {
    const response = await suite.caller.post(path, body);
    expect(response.status).toBe(202);
    expectShape(response.body);
    const run = await suite.caller.waitUntilEnded(response.body.run_id);
    expect([run.status, run.inputs.prompt]).toEqual(["completed", fields.prompt]);
  }
}

async function typeAndParent(path: string): Promise<void> {
  const child = await postRefused(suite, path, { prompt: REFUSED_PROMPT, run_id: source });
  expect(child).toMatchObject({ run_type: "image-edit", parent_run_id: source });
  const orphan = await postRefused(suite, path, { prompt: REFUSED_PROMPT, image_url: suite.imageUrl() });
  expect(orphan).toMatchObject({ run_type: "image-edit", parent_run_id: null });
}

describe("edits by a named model", () => {
  it("[EDT-001] vendora accepts JSON and forms and returns the Run shape", () =>
    bothBodies("/edits/vendora", expectRun));
  it("[EDT-002] the run of vendora is an image-edit whose parent is the given run", () =>
    typeAndParent("/edits/vendora"));
  it("[EDT-003] nanobanana accepts JSON and forms and returns the generation output", () =>
    bothBodies("/edits/nanobanana", expectGeneration));
  it("[EDT-004] the run of nanobanana is an image-edit whose parent is the given run", () =>
    typeAndParent("/edits/nanobanana"));
  it("[EDT-005] gemini-2.5 accepts JSON and forms and returns the generation output", () =>
    bothBodies("/edits/gemini-2.5", expectGeneration));
  it("[EDT-006] the run of gemini-2.5 is an image-edit whose parent is the given run", () =>
    typeAndParent("/edits/gemini-2.5"));

  it("[EDT-007] a prompt is required", async () => {
    for (const path of EDITS) {
      const response = await suite.caller.post(path, { run_id: source });
      expect(describeRefusal(response)).toEqual([400, "validation_error", "/prompt required"]);
    }
  });

  it("[EDT-008] an image is required: an address, a run or a file", async () => {
    for (const path of EDITS) {
      for (const body of [{ prompt: "x" }, suite.form({ prompt: "x" })]) {
        const response = await suite.caller.post(path, body);
        expect(describeRefusal(response)).toEqual([400, "validation_error", "/image_url at_least_one_of"]);
      }
    }
  });

  it("[EDT-009] the source may be a file part named image", async () => {
    for (const path of EDITS) {
      const run = await postAndWait(suite, path, suite.form({ prompt: withoutDelay("sepia"), image: sourceImage }));
      expect(run.outputs[0]).toMatchObject({ width: 128, height: 96 });
    }
  });

  it("[EDT-012] a reference image may be given and is shown in the inputs", async () => {
    for (const path of EDITS) {
      const fields = { run_id: source, reference_image_url: suite.imageUrl("style.png") };
      expect((await postRefused(suite, path, { prompt: REFUSED_PROMPT, ...fields })).inputs).toMatchObject(fields);
    }
  });

  it("[EDT-013] reference_url is another name of reference_image_url with the same effect", async () => {
    for (const path of EDITS) {
      const fields = { prompt: withoutDelay("in this style"), run_id: source };
      const [old, now, without] = await Promise.all([
        postAndWait(suite, path, { ...fields, reference_url: reference }),
        postAndWait(suite, path, { ...fields, reference_image_url: reference }),
        postAndWait(suite, path, fields),
      ]);
      expect(old.inputs).toEqual(now.inputs);
      expect(old.inputs.reference_image_url).toBe(reference);
      const sent = await Promise.all([old, now, without].map(({ run_id }) => findSandboxJob(suite, run_id)));
      expect(sent.map(({ request }) => request.images.length)).toEqual([2, 2, 1]);
      expect(sent[0]!.request.images).toEqual(sent[1]!.request.images);
    }
  });

  it("[EDT-014] only the old name of the reference gets a Deprecation header", async () => {
    for (const path of EDITS) {
      const fields = { prompt: REFUSED_PROMPT, run_id: source };
      const old = await suite.caller.post(path, { ...fields, reference_url: reference });
      const now = await suite.caller.post(path, { ...fields, reference_image_url: reference });
      expect([old.status, now.status]).toEqual([202, 202]);
      expect(old.headers.get("deprecation")).toMatch(/^@\d+$/);
      expect(now.headers.has("deprecation")).toBe(false);
    }
  });

  it("[EDT-015] aspect_ratio and seed may be given and are shown in the inputs", async () => {
    for (const path of EDITS) {
      const { inputs } = await postRefused(suite, path, {
        prompt: REFUSED_PROMPT,
        run_id: source,
        aspect_ratio: "16:9",
        seed: 11,
      });
      expect(inputs).toMatchObject({ aspect_ratio: "16:9", seed: 11 });
    }
  });

  it("[EDT-016] vendora with n 3 completes with three images", async () => {
    const run = await postAndWait(suite, "/edits/vendora", {
      prompt: withoutDelay("make it night"),
      run_id: source,
      n: 3,
    });
    expect(run.image_urls).toHaveLength(3);
    const whole = await Promise.all(run.image_urls.map(async (url: string) => decodePixels(await download(url))));
    for (const each of whole) expect([each.width, each.height]).toEqual([128, 96]);
  });

  it("[EDT-017] n belongs to vendora alone", async () => {
    for (const path of ["/edits/nanobanana", "/edits/gemini-2.5"]) {
      const response = await suite.caller.post(path, { prompt: "x", run_id: source, n: 2 });
      expect(describeRefusal(response)).toEqual([400, "validation_error", "/n unknown_field"]);
    }
  });

  it("[EDT-023] two different references are refused, and the same one twice is not", async () => {
    for (const path of EDITS) {
      const fields = { prompt: REFUSED_PROMPT, run_id: source, reference_url: reference };
      const other = await suite.caller.post(path, { ...fields, reference_image_url: suite.imageUrl() });
      expect(describeRefusal(other).slice(0, 2)).toEqual([400, "validation_error"]);
      const same = await postRefused(suite, path, { ...fields, reference_image_url: reference });
      expect(same.inputs.reference_image_url).toBe(reference);
    }
  });
});

describe("edits within a mask", () => {
  const within = (fields: object = {}) => ({
    prompt: withoutDelay("turn it purple"),
    run_id: source,
    seed: 3,
    ...fields,
  });

  it("[EDT-010] a mask is accepted as mask_url in JSON and as the file mask in a form", async () => {
    for (const path of MASKED) {
      const json = await postAndWait(suite, path, within({ mask_url: toDataUrl(mask) }));
      const form = await postAndWait(
        suite,
        path,
        suite.form({ prompt: withoutDelay("turn it purple"), run_id: source, seed: "3", mask }),
      );
      expect(shaOf(form)).toBe(shaOf(json));
    }
  });

  it("[EDT-011] nanobanana accepts no mask", async () => {
    const json = await suite.caller.post("/edits/nanobanana", within({ mask_url: suite.imageUrl() }));
    expect(describeRefusal(json)).toEqual([400, "validation_error", "/mask_url unknown_field"]);
    const form = await suite.caller.post("/edits/nanobanana", suite.form({ prompt: "x", run_id: source, mask }));
    expect(describeRefusal(form)).toEqual([400, "validation_error", "/mask unknown_field"]);
  });

  it("[EDT-018] what is black in the mask stays as it was, and what is white changes, in every result", async () => {
    const before = await decodePixels(sourceImage);
    for (const path of MASKED) {
      const several = path === "/edits/vendora" ? { n: 2 } : {};
      const run = await postAndWait(suite, path, within({ mask_url: toDataUrl(mask), ...several }));
      expect(run.image_urls).toHaveLength("n" in several ? 2 : 1);
      for (const url of run.image_urls) {
        const after = await decodePixels(await download(url));
        expect(countDifferentPixels(before, after, isLeft)).toBe(0);
        expect(countDifferentPixels(before, after, (x) => !isLeft(x))).toBeGreaterThan((64 * 96) / 2);
      }
    }
  });

  it("[EDT-019] a mask that marks by alpha changes the same region as one in black and white", async () => {
    const white = Buffer.alloc(128 * 96 * 4, 255).map((_, at) => (at % 4 === 3 && at % (128 * 4) >= 64 * 4 ? 0 : 255));
    const hole = await sharp(white, { raw: { width: 128, height: 96, channels: 4 } })
      .png()
      .toBuffer();
    for (const path of MASKED) {
      const byColour = await postAndWait(suite, path, within({ mask_url: toDataUrl(mask) }));
      const byAlpha = await postAndWait(suite, path, within({ mask_url: toDataUrl(hole) }));
      expect(shaOf(byAlpha)).toBe(shaOf(byColour));
    }
  });

  it("[EDT-020] a mask of another shape than its image is refused, and no run is made", async () => {
    const before = await findNewestRunId(suite);
    for (const path of MASKED) {
      const files = { image: sourceImage, mask: await rightHalfMask(64, 64) };
      expect(describeRefusal(await suite.caller.post(path, suite.form({ prompt: "x", ...files })))).toEqual([
        422,
        "mask_mismatch",
      ]);
    }
    expect(await findNewestRunId(suite)).toBe(before);
  });

  it("[EDT-021] an upstream that changes black gets the mask inverted, one that changes white gets it as it is", async () => {
    const [asIs, inverted] = await Promise.all(
      MASKED.map(async (path) => {
        const run = await postRefused(suite, path, {
          prompt: REFUSED_PROMPT,
          run_id: source,
          mask_url: toDataUrl(mask),
        });
        const [request] = await listSandboxRequests(suite, run.run_id);
        const bytes = await callSandbox(suite, `/v1/ledger/inputs/${request.mask.file}`);
        return { model: request.model, bytes: Buffer.from(await bytes.arrayBuffer()) };
      }),
    );
    expect([asIs!.model, inverted!.model]).toEqual(["blind/vendora", "replay/gemini-2.5+black"]);
    expect(createHash("sha256").update(asIs!.bytes).digest()).toEqual(createHash("sha256").update(mask).digest());
    const negative = await decodePixels(inverted!.bytes);
    expect([negative.width, negative.height]).toEqual([128, 96]);
    expect([negative.at(10, 50), negative.at(100, 50)]).toEqual([
      [255, 255, 255, 255],
      [0, 0, 0, 255],
    ]);
  });
});

describe("the edit of an earlier run with flux-kontext", () => {
  it("[FLX-001] [FLX-003] JSON with a run, a prompt and the model is accepted as a child of that run", async () => {
    const response = await suite.caller.post(FLUX, flux());
    expect(response.status).toBe(202);
    expectRun(response.body);
    expect(response.body).toMatchObject({ run_type: "image-edit", parent_run_id: source });
  });

  it("[FLX-002] the same path accepts the same fields as a form", async () => {
    const fields = { original_run_id: source, prompt: withoutDelay("sepia"), model: "flux-kontext-max", seed: "5" };
    const response = await suite.caller.post(FLUX, suite.form({ ...fields, aspect_ratio: "1:1", sync: "true" }));
    expect(response.status).toBe(200);
    expectRun(response.body);
    expect(response.body.inputs).toMatchObject({ ...fields, seed: 5, aspect_ratio: "1:1", sync: true });
  });

  it("[FLX-004] [FLX-006] the run and the prompt are required", async () => {
    const { original_run_id: _run, ...runless } = flux();
    const { prompt: _prompt, ...speechless } = flux();
    expect(describeRefusal(await suite.caller.post(FLUX, runless))).toEqual([
      400,
      "validation_error",
      "/original_run_id required",
    ]);
    expect(describeRefusal(await suite.caller.post(FLUX, speechless))).toEqual([
      400,
      "validation_error",
      "/prompt required",
    ]);
  });

  it("[FLX-005] an original_run_id that is no UUID is refused", async () => {
    expect(describeRefusal(await suite.caller.post(FLUX, flux({ original_run_id: "latest" })))).toEqual([
      400,
      "validation_error",
      "/original_run_id invalid_uuid",
    ]);
  });

  it("[FLX-007] the result has the shape of the source by default", async () => {
    const run = await postAndWait(suite, FLUX, flux({ prompt: withoutDelay("make it snow") }));
    expect(run.inputs.aspect_ratio).toBe("match_input_image");
    const { width, height } = await decodePixels(await download(run.image_url));
    expect(width / height).toBeCloseTo(128 / 96, 2);
  });

  it("[FLX-008] fourteen shapes are accepted", async () => {
    const ratios = "1:1 16:9 9:16 4:3 3:4 3:2 2:3 4:5 5:4 21:9 9:21 2:1 1:2 match_input_image".split(" ");
    const runs = await Promise.all(ratios.map((aspect_ratio) => postRefused(suite, FLUX, flux({ aspect_ratio }))));
    expect(runs.map((run) => run.inputs.aspect_ratio)).toEqual(ratios);
  });

  it("[FLX-009] another shape is refused", async () => {
    expect(describeRefusal(await suite.caller.post(FLUX, flux({ aspect_ratio: "7:3" })))).toEqual([
      400,
      "validation_error",
      "/aspect_ratio unknown_value",
    ]);
  });

  it("[FLX-010] a seed may be left out, and is shown where it is given", async () => {
    expect((await postRefused(suite, FLUX, flux())).inputs).not.toHaveProperty("seed");
    expect((await postRefused(suite, FLUX, flux({ seed: 42 }))).inputs.seed).toBe(42);
  });

  it("[FLX-011] [FLX-012] the model is required in JSON, and flux-kontext-max where a form leaves it out", async () => {
    const { model: _model, ...unnamed } = flux();
    expect(describeRefusal(await suite.caller.post(FLUX, unnamed))).toEqual([
      400,
      "validation_error",
      "/model required",
    ]);
    expect((await postRefused(suite, FLUX, suite.form(unnamed))).inputs.model).toBe("flux-kontext-max");
  });

  it("[FLX-013] another model is refused in JSON and in a form", async () => {
    const other = { original_run_id: source, prompt: "x", model: "flux-dev" };
    for (const body of [other, suite.form(other)]) {
      expect(describeRefusal(await suite.caller.post(FLUX, body))).toEqual([
        400,
        "validation_error",
        "/model unknown_value",
      ]);
    }
  });

  it("[FLX-014] [FLX-016] without sync the response does not wait, and polling finds the image", async () => {
    const slow = flux({ prompt: "[sandbox:delay=2] make it snow" });
    for (const body of [slow, { ...slow, sync: false }]) {
      const response = await suite.caller.post(FLUX, body);
      expect(response.status).toBe(202);
      expect(["pending", "processing"]).toContain(response.body.live_status);
      expect(response.body.image_url).toBeNull();
      const run = await suite.caller.waitUntilEnded(response.body.run_id);
      expect(run).toMatchObject({ status: "completed", live_status: "completed", image_url: expect.any(String) });
      expect((await fetch(run.image_url)).status).toBe(200);
    }
  });

  it("[FLX-015] with sync the response comes when the edit has ended", async () => {
    const { status, body } = await suite.caller.post(
      FLUX,
      flux({ prompt: "[sandbox:delay=1] make it snow", sync: true }),
    );
    expect([status, body.live_status]).toEqual([200, "completed"]);
    expect((await fetch(body.image_url)).headers.get("content-type")).toMatch(/^image\//);
  });
});
