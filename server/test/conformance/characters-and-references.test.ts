import { beforeAll, describe, expect } from "vitest";
import type { ApiResponse } from "../support/api-caller.ts";
import { drawScene } from "../support/scene.ts";
import { it } from "./http-and-client.ts";
import {
  countDifferentPixels,
  decodePixels,
  describeRefusal,
  download,
  findNewestRunId,
  listPixels,
  listSandboxImages,
  listSandboxRequests,
  postAndWait,
  postRefused,
  REFUSED_PROMPT,
  rightHalfMask,
  runIdOf,
  sha256,
  solidImage,
  toDataUrl,
  UNKNOWN_RUN_ID,
  withoutDelay,
} from "./response-checks.ts";
import { envelopeSuccess } from "./run-requests.ts";
import { useSuite } from "./suite.ts";

const suite = useSuite();
const CHARACTER = "/runs/character";
const REFERENCE = "/runs/reference";
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

let sourceImage: Buffer;
let portrait: string;
beforeAll(async () => {
  sourceImage = await drawScene();
  portrait = await suite.uploadImage(sourceImage);
});

const shaOf = (run: any) => run.outputs[0].sha256;

/** The envelope of both operations, with each field of its kind where it is there. */
function expectEnvelope({ body }: ApiResponse, runType: string): void {
  expect(body).toMatchObject({ success: true, message: expect.any(String) });
  expect(body.data.run_id).toMatch(/^[0-9a-f-]{36}$/);
  const { status, live_status, progress, image_url, created_at, updated_at, run_type } = body.data;
  for (const text of [status, live_status]) expect(["string", "undefined"]).toContain(typeof text);
  if (progress !== undefined) expect(progress >= 0 && progress <= 1).toBe(true);
  if (image_url !== undefined && image_url !== null) expect(image_url).toMatch(/^https?:/);
  for (const time of [created_at, updated_at]) if (time !== undefined) expect(time).toMatch(ISO);
  if (run_type !== undefined) expect(run_type).toBe(runType);
}

/** Every value is accepted by the API and the provider; any other value is rejected with its path. */
async function exactly(path: string, body: object, field: string, values: unknown[], other: unknown): Promise<void> {
  const runs = await Promise.all(
    values.map((value) => postRefused(suite, path, { prompt: REFUSED_PROMPT, ...body, [field]: value })),
  );
  expect(runs.map((run) => run.inputs[field])).toEqual(values);
  const refused = await suite.caller.post(path, { prompt: "x", ...body, [field]: other });
  expect(describeRefusal(refused)).toEqual([400, "validation_error", `/${field} unknown_value`]);
}

describe("images of a character", () => {
  const character = (fields: object = {}) => ({
    prompt: withoutDelay("in a meadow"),
    character_reference_image: toDataUrl(sourceImage),
    aspect_ratio: "1:1",
    seed: 9,
    ...fields,
  });

  it("[CHR-001] a prompt and an image of the character are accepted with an envelope", async () => {
    const response = await suite.caller.post(CHARACTER, {
      prompt: REFUSED_PROMPT,
      character_reference_image: suite.imageUrl(),
    });
    expect(response.status).toBe(202);
    expectEnvelope(response, "character-generation");
  });

  it("[CHR-002] [CHR-007] [CHR-008] a file of a form, an address, base64 and a run serve alike as the reference", async () => {
    const { character_reference_image: _, seed, ...fields } = character();
    const bodies = [
      suite.form({ ...fields, seed: String(seed), character_reference_file: sourceImage }),
      character({ character_reference_image: suite.imageUrl() }),
      character(),
      character({ character_reference_image: sourceImage.toString("base64") }),
      { ...fields, seed, character_reference_run_id: portrait },
    ];
    const runs = await Promise.all(bodies.map((body) => postAndWait(suite, CHARACTER, body)));
    expect(new Set(runs.map(shaOf)).size).toBe(1);
    expect(runs.map((run) => run.warnings)).toEqual(bodies.map(() => []));
    expect(runs[0].inputs).toMatchObject({ ...fields, seed });
  });

  it("[CHR-003] the file field exists in forms only", async () => {
    const response = await suite.caller.post(CHARACTER, { prompt: "x", character_reference_file: suite.imageUrl() });
    expect(describeRefusal(response)).toEqual([400, "validation_error", "/character_reference_file unknown_field"]);
  });

  it("[CHR-004] the run is a character-generation, in the envelope and by itself", async () => {
    const response = await suite.caller.post(CHARACTER, character({ prompt: REFUSED_PROMPT }));
    expectEnvelope(response, "character-generation");
    expect((await suite.caller.get(`/runs/${runIdOf(response)}`)).body.run_type).toBe("character-generation");
  });

  it("[CHR-005] the run that shows the character is the parent, and without one there is none", async () => {
    const child = await postRefused(suite, CHARACTER, { prompt: REFUSED_PROMPT, character_reference_run_id: portrait });
    expect(child.parent_run_id).toBe(portrait);
    const orphan = await postRefused(suite, CHARACTER, character({ prompt: REFUSED_PROMPT }));
    expect(orphan.parent_run_id).toBeNull();
  });

  it("[CHR-006] a prompt is required", async () => {
    const response = await suite.caller.post(CHARACTER, { character_reference_run_id: portrait });
    expect(describeRefusal(response)).toEqual([400, "validation_error", "/prompt required"]);
  });

  it("[CHR-009] a character_reference_run_id that is no UUID is refused", async () => {
    const response = await suite.caller.post(CHARACTER, { prompt: "x", character_reference_run_id: "me" });
    expect(describeRefusal(response)).toEqual([400, "validation_error", "/character_reference_run_id invalid_uuid"]);
  });

  const reference = () => ({ character_reference_run_id: portrait });
  it("[CHR-010] rendering_speed is Default, Turbo or Quality", () =>
    exactly(CHARACTER, reference(), "rendering_speed", ["Default", "Turbo", "Quality"], "FAST"));
  it("[CHR-011] style_type is Auto, Fiction or Realistic", () =>
    exactly(CHARACTER, reference(), "style_type", ["Auto", "Fiction", "Realistic"], "Anime"));
  it("[CHR-012] magic_prompt_option is On, Off or Auto", () =>
    exactly(CHARACTER, reference(), "magic_prompt_option", ["On", "Off", "Auto"], "Maybe"));
  it("[CHR-013] aspect_ratio is one of seven", () =>
    exactly(CHARACTER, reference(), "aspect_ratio", ["1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3"], "21:9"));
  it("[CHR-014] resolution is one of five", () =>
    exactly(CHARACTER, reference(), "resolution", ["auto", "720", "1024", "1280", "2048"], "4096"));

  it("[CHR-015] a seed may be given and is shown in the inputs", async () => {
    expect(
      (await postRefused(suite, CHARACTER, { prompt: REFUSED_PROMPT, ...reference(), seed: 77 })).inputs.seed,
    ).toBe(77);
    expect((await postRefused(suite, CHARACTER, { prompt: REFUSED_PROMPT, ...reference() })).inputs).not.toHaveProperty(
      "seed",
    );
  });

  it("[CHR-016] the character is put into an image, within its mask", async () => {
    const place = { image: suite.imageUrl(), mask: toDataUrl(await rightHalfMask()) };
    const run = await postAndWait(suite, CHARACTER, { prompt: withoutDelay("standing"), ...reference(), ...place });
    const [before, after] = [await decodePixels(sourceImage), await decodePixels(await download(run.image_url))];
    expect([after.width, after.height]).toEqual([128, 96]);
    expect(countDifferentPixels(before, after, (x) => x < 64)).toBe(0);
    expect(countDifferentPixels(before, after, (x) => x >= 64)).toBeGreaterThan(100);
    for (const field of ["image", "mask"]) {
      const bare = { prompt: REFUSED_PROMPT, ...reference(), [field]: suite.imageUrl() };
      expect((await postRefused(suite, CHARACTER, bare)).inputs[field]).toBe(suite.imageUrl());
    }
  });

  it("[CHR-017] [CHR-018] the image is null while the run is unfinished and set when the response waited for it", async () => {
    const open = await suite.caller.post(CHARACTER, character({ prompt: "[sandbox:delay=2] open" }));
    expectEnvelope(open, "character-generation");
    expect([open.status, open.body.data.image_url ?? null]).toEqual([202, null]);
    const ended = await suite.caller.post(CHARACTER, character({ sync: true }));
    expectEnvelope(ended, "character-generation");
    expect([ended.status, ended.body.data.status, ended.body.data.progress]).toEqual([200, "completed", 1]);
    expect((await fetch(ended.body.data.image_url)).headers.get("content-type")).toMatch(/^image\//);
  });

  it("[CHR-019] an error response has success false beside message, code and details", async () => {
    const unfit = await suite.caller.post(CHARACTER, { prompt: "x", resolution: "4096" });
    const unknown = await suite.caller.post(CHARACTER, { prompt: "x", character_reference_run_id: UNKNOWN_RUN_ID });
    expect([unfit.status, unknown.status]).toEqual([400, 404]);
    for (const [response, code] of [
      [unfit, "validation_error"],
      [unknown, "run_not_found"],
    ] as const) {
      expect(envelopeSuccess(response)).toBe(false);
      expect(response.body).toMatchObject({ message: expect.any(String), code, details: {} });
    }
  });

  it("[CHR-021] without a reference it is an ordinary generation with a warning", async () => {
    const run = await postAndWait(suite, CHARACTER, { prompt: withoutDelay("a girl on a hill") });
    expect(run.warnings).toEqual([expect.stringMatching(/no .*reference/i)]);
    expect(run.outputs).toHaveLength(1);
  });

  it("[CHR-022] resolution works the same as text and as a number", async () => {
    const text = await postAndWait(suite, CHARACTER, character({ resolution: "1024" }));
    const number = await postAndWait(suite, CHARACTER, character({ resolution: 1024 }));
    expect([text.inputs.resolution, number.inputs.resolution]).toEqual(["1024", "1024"]);
    expect(shaOf(number)).toBe(shaOf(text));
    expect(number.warnings).toEqual(text.warnings);
    expect(Math.max(text.outputs[0].width, text.outputs[0].height)).toBe(1024);
  });
});

describe("images from tagged references", () => {
  const hero = (image_reference: string = portrait, tag = "hero") => ({ image_reference, tag });
  const declined = (fields: object = {}) => ({ prompt: REFUSED_PROMPT, images: [hero()], ...fields });

  it("[REF-001] a prompt and tagged images are accepted with an envelope", async () => {
    const response = await suite.caller.post(REFERENCE, declined({ images: [hero(suite.imageUrl())] }));
    expect(response.status).toBe(202);
    expectEnvelope(response, "reference-generation");
  });

  it("[REF-002] a form accepts the images as one JSON text, with the same inputs", async () => {
    const images = [hero(), hero(suite.imageUrl(), "place")];
    const fields = { prompt: REFUSED_PROMPT, aspect_ratio: "4:3", resolution: "720p" };
    const json = await postRefused(suite, REFERENCE, { ...fields, images });
    const form = await postRefused(suite, REFERENCE, suite.form({ ...fields, images: JSON.stringify(images) }));
    expect(form.inputs).toEqual(json.inputs);
    expect(form.inputs.images).toEqual(images);
  });

  it("[REF-003] a form whose images are no JSON is refused at /images", async () => {
    const response = await suite.caller.post(REFERENCE, suite.form({ prompt: "x", images: "[{image_reference:" }));
    expect(response.body.details.errors.map((each: any) => each.path)).toEqual(["/images"]);
    expect([response.status, response.body.code]).toEqual([400, "validation_error"]);
  });

  it("[REF-004] the run is a reference-generation without a parent", async () => {
    const response = await suite.caller.post(REFERENCE, declined());
    expectEnvelope(response, "reference-generation");
    expect((await suite.caller.get(`/runs/${runIdOf(response)}`)).body).toMatchObject({
      run_type: "reference-generation",
      parent_run_id: null,
    });
  });

  it("[REF-005] a prompt is required", async () => {
    const response = await suite.caller.post(REFERENCE, { images: [hero()] });
    expect(describeRefusal(response)).toEqual([400, "validation_error", "/prompt required"]);
  });

  it("[REF-006] an image is an address, base64 or a run, and reaches the provider", async () => {
    for (const way of [suite.imageUrl(), toDataUrl(sourceImage), sourceImage.toString("base64"), portrait]) {
      const run = await postRefused(suite, REFERENCE, declined({ images: [hero(way)] }));
      expect(run.inputs.images).toHaveLength(1);
      expect(await listSandboxImages(suite, run.run_id)).toEqual([sha256(sourceImage)]);
    }
    const word = await suite.caller.post(REFERENCE, declined({ images: [hero("my image")] }));
    expect(describeRefusal(word)).toEqual([400, "validation_error", "/images/0/image_reference ambiguous_reference"]);
  });

  it("[REF-007] [REF-012] @hero in the prompt calls the image tagged hero, which is joined in the tree", async () => {
    const green = await solidImage("#00ff00");
    const place = hero(await suite.uploadImage(green), "place");
    const images = [place, hero()];
    const run = await postAndWait(suite, REFERENCE, {
      prompt: withoutDelay("@hero walks along the beach"),
      images,
      resolution: "720p",
      aspect_ratio: "1:1",
    });
    expect(run.inputs.images).toEqual(images);
    expect(run.warnings).toEqual([]);
    const [{ prompt, options }] = await listSandboxRequests(suite, run.run_id);
    expect([prompt, options.tags]).toEqual(["@hero walks along the beach", ["place", "hero"]]);
    expect(await listSandboxImages(suite, run.run_id)).toEqual([sha256(green), sha256(sourceImage)]);
    // The provider draws what the prompt calls: the scene with its red circle, and not the green place.
    const pixels = listPixels(await decodePixels(await download(run.image_url)));
    const isNear = (one: number[], [r, g, b]: number[]) =>
      Math.max(Math.abs(one[0]! - r!), Math.abs(one[1]! - g!), Math.abs(one[2]! - b!)) < 16;
    expect(pixels.filter((pixel) => isNear(pixel, [0xe0, 0x10, 0x20])).length).toBeGreaterThan(2000);
    expect(pixels.filter((pixel) => isNear(pixel, [0, 255, 0])).length).toBeLessThan(100);
    const { edges } = (await suite.caller.get(`/runs/${run.run_id}/tree`)).body;
    const joined = edges.filter((edge: any) => edge.from === run.run_id && edge.to === portrait);
    expect(joined.map((edge: any) => edge.kind)).toEqual(["reference"]);
  });

  it("[REF-008] aspect_ratio is one of six", () =>
    exactly(REFERENCE, {}, "aspect_ratio", ["16:9", "9:16", "4:3", "3:4", "1:1", "21:9"], "2:3"));
  it("[REF-009] resolution is 720p or 1080p", () => exactly(REFERENCE, {}, "resolution", ["720p", "1080p"], "4k"));

  it("[REF-010] the fields of the response have their types, while the run is unfinished and after its end", async () => {
    const open = await suite.caller.post(REFERENCE, declined());
    const ended = await suite.caller.post(REFERENCE, {
      prompt: withoutDelay("@hero"),
      images: [hero()],
      resolution: "720p",
      sync: true,
    });
    for (const response of [open, ended]) expectEnvelope(response, "reference-generation");
    expect(ended.body.data).toMatchObject({ status: "completed", live_status: "completed", progress: 1 });
    expect(ended.body.data.image_url).toMatch(/^http/);
    expect(open.body.data.image_url ?? null).toBeNull();
  });

  it("[REF-011] an error response has success false beside message, code and details", async () => {
    const unfit = await suite.caller.post(REFERENCE, declined({ resolution: "4k" }));
    const unknown = await suite.caller.post(REFERENCE, declined({ images: [hero(UNKNOWN_RUN_ID)] }));
    expect([unfit.status, unknown.status]).toEqual([400, 404]);
    expect([unfit.body.code, unknown.body.code]).toEqual(["validation_error", "run_not_found"]);
    for (const response of [unfit, unknown]) {
      expect(envelopeSuccess(response)).toBe(false);
      expect(response.body).toMatchObject({ message: expect.any(String), details: {} });
    }
  });

  it("[REF-014] none to three images are accepted, four are not", async () => {
    const images = (count: number) => Array.from({ length: count }, (_, n) => hero(portrait, `tag${n}`));
    const before = await findNewestRunId(suite);
    expect(describeRefusal(await suite.caller.post(REFERENCE, declined({ images: images(4) })))).toEqual([
      400,
      "validation_error",
      "/images too_many_items",
    ]);
    expect(await findNewestRunId(suite)).toBe(before);
    expect((await postRefused(suite, REFERENCE, declined({ images: images(3) }))).inputs.images).toHaveLength(3);
    expect((await postRefused(suite, REFERENCE, { prompt: REFUSED_PROMPT })).inputs.images).toEqual([]);
  });

  it("[REF-015] a leading @ of a tag is removed with a warning; invalid tags are rejected", async () => {
    const run = await postRefused(suite, REFERENCE, declined({ images: [hero(portrait, "@hero")] }));
    expect(run.inputs.images).toEqual([hero()]);
    expect(run.warnings).toEqual([expect.stringContaining("@hero")]);
    for (const tag of ["h", "hero!"]) {
      const response = await suite.caller.post(REFERENCE, declined({ images: [hero(portrait, tag)] }));
      expect([response.status, response.body.details.errors[0].path]).toEqual([400, "/images/0/tag"]);
    }
  });
});
