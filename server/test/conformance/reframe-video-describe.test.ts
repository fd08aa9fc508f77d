import sharp from "sharp";
import { beforeAll, describe, expect } from "vitest";
import { drawScene } from "../support/scene.ts";
import { it } from "./http-and-client.ts";
import {
  decodePixels,
  describeRefusal,
  download,
  expectRun,
  findNewestRunId,
  imageWithBehaviour,
  postAndWait,
  postRefused,
  REFUSED_PROMPT,
  solidImage,
  UNKNOWN_RUN_ID,
  withoutDelay,
} from "./response-checks.ts";
import { useSuite } from "./suite.ts";

const suite = useSuite();
const REFRAME = "/edits/reframe";
const DESCRIBE = "/images/describe";
const VIDEO = "/runs/video";

let sourceImage: Buffer;
let source: string;
beforeAll(async () => {
  sourceImage = await drawScene();
  source = await suite.uploadImage(sourceImage);
});

describe("reframe", () => {
  const wide = (fields: object = {}) => ({ prompt: REFUSED_PROMPT, aspect_ratio: "16:9", run_id: source, ...fields });
  const POSITIONS = ["grid_position_x", "grid_position_y", "x_start", "x_end", "y_start", "y_end"];
  const edges = { x_start: -16, x_end: 144, y_start: -8, y_end: 82 };

  it("[RFM-001] JSON with a prompt, an address, a ratio and a model is accepted", async () => {
    const fields = { image_url: suite.imageUrl(), aspect_ratio: "16:9", model: "photon-1" };
    const response = await suite.caller.post(REFRAME, { prompt: REFUSED_PROMPT, ...fields });
    expect(response.status).toBe(202);
    expectRun(response.body);
    expect(response.body.inputs).toMatchObject(fields);
  });

  it("[RFM-002] the same fields are accepted as a form, with the source as image_file", async () => {
    const fields = {
      prompt: withoutDelay("more of it"),
      aspect_ratio: "1:1",
      model: "photon-flash-1",
      image_file: sourceImage,
    };
    const run = await postAndWait(suite, REFRAME, suite.form(fields));
    expect(run.outputs[0]).toMatchObject({ width: 128, height: 128 });
  });

  it("[RFM-003] [RFM-004] any of the three sources will do, none will not, and only a run is the parent", async () => {
    const { run_id: _run, ...bare } = wide();
    expect(await postRefused(suite, REFRAME, wide())).toMatchObject({ run_type: "reframe", parent_run_id: source });
    for (const body of [{ ...bare, image_url: suite.imageUrl() }, suite.form({ ...bare, image_file: sourceImage })]) {
      expect(await postRefused(suite, REFRAME, body)).toMatchObject({ run_type: "reframe", parent_run_id: null });
    }
    for (const body of [bare, suite.form(bare)]) {
      expect(describeRefusal(await suite.caller.post(REFRAME, body))).toEqual([
        400,
        "validation_error",
        "/image_url at_least_one_of",
      ]);
    }
  });

  it("[RFM-005] the finished image has the requested ratio, within a pixel", async () => {
    for (const aspect_ratio of ["16:9", "1:1", "9:16", "21:9"]) {
      const run = await postAndWait(suite, REFRAME, wide({ prompt: withoutDelay("more of it"), aspect_ratio }));
      const { width, height } = await decodePixels(await download(run.image_url));
      const [across, down] = aspect_ratio.split(":").map(Number) as [number, number];
      const off = Math.min(Math.abs(width - (height * across) / down), Math.abs(height - (width * down) / across));
      expect(off).toBeLessThanOrEqual(1);
    }
  });

  it("[RFM-006] there are two models", async () => {
    for (const model of ["photon-flash-1", "photon-1"]) {
      expect(await postRefused(suite, REFRAME, wide({ model }))).toMatchObject({ model, inputs: { model } });
    }
    const other = await suite.caller.post(REFRAME, wide({ model: "photon-2" }));
    expect(describeRefusal(other)).toEqual([400, "validation_error", "/model unknown_value"]);
  });

  it("[RFM-007] the place in the grid may be given without the edges", async () => {
    const place = { grid_position_x: 10, grid_position_y: 0 };
    const run = await postAndWait(suite, REFRAME, wide({ prompt: withoutDelay("more of it"), ...place }));
    expect(run.inputs).toMatchObject(place);
    const { at } = await decodePixels(await download(run.image_url));
    expect(at(10 + 32, 48)).toEqual((await decodePixels(sourceImage)).at(32, 48));
  });

  it("[RFM-008] the four edges may be given together and are shown in the inputs", async () => {
    const run = await postAndWait(suite, REFRAME, wide({ prompt: withoutDelay("more of it"), ...edges }));
    expect(run.inputs).toMatchObject(edges);
    expect(run.outputs[0]).toMatchObject({ width: 160, height: 90 });
  });

  it("[RFM-009] one, two or three edges alone are refused", async () => {
    const names = Object.keys(edges);
    for (const count of [1, 2, 3]) {
      const some = Object.fromEntries(Object.entries(edges).slice(0, count));
      const response = await suite.caller.post(REFRAME, wide(some));
      const missing = names.slice(count).map((name) => `/${name} required`);
      expect(describeRefusal(response)).toEqual([400, "validation_error", ...missing]);
    }
  });

  it("[RFM-010] positions are integers: no fractions, no text", async () => {
    for (const field of POSITIONS) {
      for (const value of [1.5, "1"]) {
        const response = await suite.caller.post(REFRAME, wide({ ...edges, [field]: value }));
        expect(describeRefusal(response)).toEqual([400, "validation_error", `/${field} invalid_type`]);
      }
    }
  });

  it("[RFM-012] of three sources the file is used, and the run is the parent", async () => {
    const green = await solidImage("#10c020", 64, 64);
    const fields = { prompt: withoutDelay("more"), aspect_ratio: "1:1", image_file: green };
    const run = await postAndWait(
      suite,
      REFRAME,
      suite.form({ ...fields, image_url: suite.imageUrl(), run_id: source }),
    );
    expect(run.parent_run_id).toBe(source);
    const { width, height, at } = await decodePixels(await download(run.image_url));
    expect([width, height, at(30, 30)]).toEqual([64, 64, [16, 192, 32, 255]]);
  });
});

describe("describe", () => {
  const described = async (body: object) => {
    const response = await suite.caller.post(DESCRIBE, body instanceof FormData ? body : { sync: true, ...body });
    expect([response.status, response.body.status]).toEqual([200, "completed"]);
    return response.body;
  };
  const runOf = async (id: string) => (await suite.caller.get(`/runs/${id}`)).body;

  it("[DSC-001] [DSC-003] an address is described within the call: text, tags, a prompt and the size", async () => {
    const response = await described({ image_url: suite.imageUrl() });
    expect(response).toMatchObject({
      run_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      description: expect.stringMatching(/\w+ \w+/),
      prompt: expect.stringMatching(/\w/),
      width: 128,
      height: 96,
    });
    expect(response.tags.length).toBeGreaterThan(0);
    expect(response.tags.every((tag: unknown) => typeof tag === "string")).toBe(true);
  });

  it("[DSC-002] a form accepts the image as a file", async () => {
    const image = await sharp(sourceImage).resize(64, 80, { fit: "fill" }).png().toBuffer();
    expect(await described(suite.form({ image, sync: "true" }))).toMatchObject({ width: 64, height: 80 });
  });

  it("[DSC-004] the run is a describe whose parent is the given run", async () => {
    const child = await described({ run_id: source });
    expect(await runOf(child.run_id)).toMatchObject({ run_type: "describe", parent_run_id: source });
    const orphan = await described({ image_url: suite.imageUrl() });
    expect(await runOf(orphan.run_id)).toMatchObject({ run_type: "describe", parent_run_id: null });
  });

  it("[DSC-005] an image is required: an address, a run or a file", async () => {
    for (const body of [{ detail: "short" }, suite.form({ detail: "short" })]) {
      expect(describeRefusal(await suite.caller.post(DESCRIBE, body))).toEqual([
        400,
        "validation_error",
        "/image_url at_least_one_of",
      ]);
    }
  });

  it("[DSC-006] detail is short, normal or long", async () => {
    const lengths = [];
    for (const detail of ["short", "normal", "long"]) {
      const response = await described({ run_id: source, detail });
      expect((await runOf(response.run_id)).inputs.detail).toBe(detail);
      lengths.push(response.description.length);
    }
    expect(lengths).toEqual([...new Set(lengths)].sort((a, b) => a - b));
    const other = await suite.caller.post(DESCRIBE, { run_id: source, detail: "endless" });
    expect(describeRefusal(other)).toEqual([400, "validation_error", "/detail unknown_value"]);
  });

  it("[DSC-007] a language may be given and is shown in the inputs", async () => {
    const german = await described({ run_id: source, language: "de" });
    expect((await runOf(german.run_id)).inputs.language).toBe("de");
    const plain = await described({ run_id: source });
    expect((await runOf(plain.run_id)).inputs).not.toHaveProperty("language");
    expect(german.description).not.toBe(plain.description);
  });

  it("[DSC-008] while the run is unfinished the response has no description", async () => {
    const slow = await suite.uploadImage((await imageWithBehaviour(suite, { delay: 2 })).bytes);
    const { status, body } = await suite.caller.post(DESCRIBE, { run_id: slow, sync: false });
    expect([status, body.run_id]).toEqual([202, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(["queued", "processing"]).toContain(body.status);
    expect(body.description ?? "").toBe("");
    expect((await suite.caller.waitUntilEnded(body.run_id)).status).toBe("completed");
  });
});

describe("video", () => {
  const videoInput = (fields: object = {}) => ({ image_url: suite.imageUrl(), prompt: REFUSED_PROMPT, ...fields });
  /** Requests a video that the provider refuses, and returns the first response. */
  const accepted = async (fields: object) => {
    const response = await suite.caller.post(VIDEO, fields);
    expect([response.status, response.body.code]).toEqual([202, undefined]);
    expect((await suite.caller.waitUntilEnded(response.body.run_id)).error.code).toBe("content_refused");
    return response.body;
  };

  it("[VID-001] [VID-003] [VID-007] a URL alone is accepted and returns the unfinished run with its input", async () => {
    const { url } = await imageWithBehaviour(suite, { refuse: true });
    const body = await accepted({ image_url: url });
    expectRun(body);
    expect(["queued", "processing"]).toContain(body.status);
    expect(body.input).toMatchObject({ image_url: url });
    expect(body.error ?? null).toBeNull();
  });

  it("[VID-002] the run is a video-generation whose parent is the given run", async () => {
    const { run_id } = await accepted({ prompt: REFUSED_PROMPT, source_run_id: source });
    const child = (await suite.caller.get(`/runs/${run_id}`)).body;
    expect(child).toMatchObject({ run_type: "video-generation", parent_run_id: source });
    expect(await accepted(videoInput())).toMatchObject({ run_type: "video-generation", parent_run_id: null });
  });

  it("[VID-004] [VID-005] both sources, and none, are refused, and no run is made", async () => {
    const before = await findNewestRunId(suite);
    for (const body of [videoInput({ source_run_id: source }), { prompt: "x" }]) {
      const response = await suite.caller.post(VIDEO, body);
      expect(describeRefusal(response)).toEqual([400, "validation_error", "/image_url exactly_one_of"]);
    }
    expect(await findNewestRunId(suite)).toBe(before);
  });

  it("[VID-006] a refusal appears both as an error body and as a failed run", async () => {
    const { status, body } = await suite.caller.post(VIDEO, { prompt: "x", fps: 0 });
    const { message, code, details } = body;
    expect([status, code]).toEqual([400, "validation_error"]);
    expect(details.errors).toHaveLength(2);
    expect(body).toEqual({ message, code, details, status: "failed", error: { message, code, details } });
  });

  it("[VID-008] prompts are optional and shown in the input", async () => {
    const reported = await accepted(videoInput({ negative_prompt: "no people" }));
    expect(reported.input).toMatchObject({ prompt: REFUSED_PROMPT, negative_prompt: "no people" });
    const refused = await suite.uploadImage((await imageWithBehaviour(suite, { refuse: true })).bytes);
    const silent = await accepted({ source_run_id: refused });
    for (const field of ["prompt", "negative_prompt"]) expect(silent.input).not.toHaveProperty(field);
  });

  it("[VID-009] the shape is 16:9 by default", async () => {
    expect((await accepted(videoInput())).input.aspect_ratio).toBe("16:9");
    expect((await accepted(videoInput({ aspect_ratio: "1:1" }))).input.aspect_ratio).toBe("1:1");
  });

  it("[VID-010] seed, cfg_scale, motion_bucket_id and fps are optional numbers and shown in the input", async () => {
    const numbers = { seed: 5, cfg_scale: 7.5, motion_bucket_id: 40, fps: 12 };
    expect((await accepted(videoInput(numbers))).input).toMatchObject(numbers);
    const { input } = await accepted(videoInput());
    for (const field of Object.keys(numbers)) expect(input).not.toHaveProperty(field);
  });

  it("[VID-011] a text is no number", async () => {
    for (const field of ["duration", "seed", "cfg_scale", "motion_bucket_id", "fps"]) {
      const response = await suite.caller.post(VIDEO, videoInput({ [field]: "3" }));
      expect(describeRefusal(response)).toEqual([400, "validation_error", `/${field} invalid_type`]);
    }
  });

  it("[VID-012] a webhook and its secret are accepted, and the secret is shown nowhere", async () => {
    const webhook = { webhook_url: "https://example.com/hook", webhook_secret: "a secret of sixteen bytes and more" };
    const body = await accepted(videoInput(webhook));
    expect(body.input.webhook_url).toBe(webhook.webhook_url);
    const run = (await suite.caller.get(`/runs/${body.run_id}`)).body;
    for (const shown of [body, run]) {
      expect(shown.inputs).not.toHaveProperty("webhook_secret");
      expect(JSON.stringify(shown)).not.toContain(webhook.webhook_secret);
    }
  });

  it("[VID-013] a completed video can be fetched and is one of the outputs", async () => {
    const run = await postAndWait(
      suite,
      VIDEO,
      videoInput({ prompt: withoutDelay("clouds pass"), duration: 1, fps: 4 }),
    );
    expect(run.outputs).toEqual([
      expect.objectContaining({ url: run.video_url, media_type: expect.stringMatching(/^video\//) }),
    ]);
    const file = await fetch(run.video_url);
    expect([file.status, file.headers.get("content-type")]).toEqual([200, run.outputs[0].media_type]);
    const bytes = Buffer.from(await file.arrayBuffer());
    expect([bytes.length, bytes.subarray(4, 8).toString()]).toEqual([run.outputs[0].size_bytes, "ftyp"]);
  });

  it("a source run that is unknown is not found, in the shape of a refused video", async () => {
    const { status, body } = await suite.caller.post(VIDEO, { prompt: "x", source_run_id: UNKNOWN_RUN_ID });
    const { message, code, details } = body;
    expect([status, code, body.status]).toEqual([404, "run_not_found", "failed"]);
    expect(body.error).toEqual({ message, code, details });
  });
});
