// Conformance: what each model type of images.generate requires, accepts and produces.
import sharp from "sharp";
import { describe, expect } from "vitest";
import { drawScene } from "../support/scene.ts";
import {
  type Body,
  CUSTOM_MODEL_FIELDS,
  CUSTOM_MODEL_FIELDS_2_2,
  expectFieldError,
  expectGenerateAccepted,
  expectNoNewRun,
  fieldErrorsOf,
  findSandboxJob,
  LORAS,
  minimalFields,
} from "./expectations.ts";
import { it } from "./http-and-client.ts";
import { postRefused, REFUSED_PROMPT, rightHalfMask, sha256 } from "./response-checks.ts";
import { useSuite } from "./suite.ts";

const suite = useSuite();
const SMALL = { width: 64, height: 64 };

const finished = async (path: string, body: Body) => {
  const { status, body: run } = await suite.caller.post(path, { prompt: "a hill", sync: true, ...body });
  expect([status, run.status, run.warnings]).toEqual([200, "completed", []]);
  return run;
};
const generated = (body: Body) => finished("/runs/generate", body);
const refused = (body: Body, headers?: Record<string, string>) =>
  expectNoNewRun(suite, () => suite.caller.generate({ prompt: "x", ...body }, headers));
/** Taken, and every field of it used. */
const taken = async (body: Body) => {
  const run = await expectGenerateAccepted(suite, body);
  expect(run.warnings).toEqual([]);
  expect(run.inputs).toMatchObject(body);
  return run;
};
const without = (body: Body, ...fields: string[]) =>
  Object.fromEntries(Object.entries(body).filter(([field]) => !fields.includes(field)));
const pixels = async (url: string) =>
  sharp(Buffer.from(await (await fetch(url)).arrayBuffer()))
    .removeAlpha()
    .raw()
    .toBuffer();

describe("flux-dev", () => {
  it("[MOD-001] needs nothing but a prompt", async () => {
    const { inputs } = await taken({ model_type: "flux-dev" });
    for (const field of ["reference_image_url", "model_id", "lora_low_name", "lora_high_name", "width", "height"]) {
      expect(inputs).not.toHaveProperty(field);
    }
  });

  it("[MOD-002] accepts a reference, width and height together, and produces an image of that size", async () => {
    const input = { model_type: "flux-dev", reference_image_url: suite.imageUrl(), width: 128, height: 80 };
    const run = await generated(input);
    expect(run.inputs).toMatchObject(input);
    const file = Buffer.from(await (await fetch(run.image_url)).arrayBuffer());
    const { width, height } = await sharp(file).metadata();
    expect([width, height]).toEqual([128, 80]);
  });
});

describe("vendorb-imagen4", () => {
  const model_type = "vendorb-imagen4";

  it("[MOD-003] needs an aspect ratio", async () => {
    expectFieldError(await refused({ model_type }), "/aspect_ratio", "aspect_ratio_required");
  });

  it.each(["16:9", "1:1", "9:16"])("[MOD-004] takes the aspect ratio %s", async (aspect_ratio) => {
    await taken({ model_type, aspect_ratio });
  });

  it("[MOD-005] accepts a reference beside prompt and aspect ratio", async () => {
    const run = await generated({ model_type, aspect_ratio: "1:1", reference_image_url: suite.imageUrl() });
    expect((await findSandboxJob(suite, run.run_id)).request.images).toHaveLength(1);
  });
});

describe("flux-kontext-max", () => {
  const model_type = "flux-kontext-max";

  it("[MOD-006] needs only a prompt, and is then square", async () => {
    expect((await taken({ model_type })).inputs.aspect_ratio).toBe("1:1");
  });

  it.each([...["1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3", "4:5", "5:4", "21:9", "9:21", "2:1", "1:2"]])(
    "[MOD-007] accepts the aspect ratio %s",
    async (aspect_ratio) => {
      await taken({ model_type, aspect_ratio });
    },
  );

  it.each(["7:3", "match_input_image"])("[MOD-008] refuses the aspect ratio %s", async (aspect_ratio) => {
    expectFieldError(await refused({ model_type, aspect_ratio }), "/aspect_ratio", "unknown_value");
  });

  it("[MOD-009] accepts a seed and shows it", async () => {
    expect((await taken({ model_type, seed: 42 })).inputs.seed).toBe(42);
  });
});

describe("vendora", () => {
  it("[MOD-010] requires only a prompt, and accepts a reference, width and height", async () => {
    const model_type = "vendora";
    await taken({ model_type });
    await taken({ model_type, reference_image_url: suite.imageUrl() });
    await taken({ model_type, reference_image_url: suite.imageUrl(), width: 1024, height: 1024 });
    for (const side of [{ width: 512 }, { height: 512 }]) {
      const run = await expectGenerateAccepted(suite, { model_type, ...side });
      expect(run).toMatchObject({ inputs: side, warnings: [expect.stringContaining("both width and height")] });
    }
  });

  it("[MOD-011] makes images and edits them", async () => {
    const made = await generated({ model_type: "vendora" });
    const edited = await finished("/edits/vendora", { run_id: made.run_id, prompt: "make it red" });
    expect([made.model, edited.model]).toEqual(["vendora", "vendora"]);
    expect(edited).toMatchObject({ run_type: "image-edit", parent_run_id: made.run_id });
    expect(edited.outputs[0].sha256).not.toBe(made.outputs[0].sha256);
  });
});

describe("the wan models", () => {
  const WAN = { "wan-image-2.1": CUSTOM_MODEL_FIELDS, "wan-image-2.2": { ...CUSTOM_MODEL_FIELDS_2_2, ...LORAS } };
  const [one, two] = Object.entries(WAN).map(([model_type, body]): Body => ({ model_type, ...body })) as [Body, Body];

  it.each([
    ["MOD-012", one],
    ["MOD-018", two],
  ])("[%s] need a model_id", async (_id, body) => {
    expectFieldError(await refused(without(body, "model_id")), "/model_id", "model_id_required");
  });

  it.each([
    ["MOD-013", one],
    ["MOD-019", two],
  ])("[%s] need width and height", async (_id, body) => {
    for (const side of ["width", "height"])
      expectFieldError(await refused(without(body, side)), `/${side}`, "required");
    const neither = await refused(without(body, "width", "height"));
    expect(fieldErrorsOf(neither).map((error) => error.path)).toEqual(["/width", "/height"]);
  });

  it("[MOD-014] wan-image-2.1 accepts strength_model, model_weight and guidance, and shows them", async () => {
    await taken({ ...one, strength_model: 1.5, guidance: 3.5 });
    await taken({ ...one, model_weight: 0.25 });
    // Two names of one parameter of the model: the first counts.
    const both = { ...one, strength_model: 1.5, model_weight: 0.25 };
    const run = await expectGenerateAccepted(suite, both);
    expect(run).toMatchObject({ inputs: both, warnings: [expect.stringMatching(/^model_weight .* was ignored/)] });
  });

  it("[MOD-015] wan-image-2.1 makes two images where no batch size is given", async () => {
    const run = await generated(one);
    expect(run.inputs.batch_size).toBe(2);
    expect(run.image_urls).toHaveLength(2);
    expect(new Set(run.image_urls).size).toBe(2);
  });

  it.each([1, 3, 4])("[MOD-016] wan-image-2.1 refuses batch_size %d", async (batch_size) => {
    const response = await refused({ ...one, batch_size });
    expect([response.status, response.body.code]).toEqual([400, "unsupported_parameter"]);
    expect(fieldErrorsOf(response).map((error) => error.path)).toEqual(["/batch_size"]);
  });

  it("[MOD-017] wan-image-2.1 accepts batch_size 2", async () => {
    expect((await taken({ ...one, batch_size: 2 })).inputs.batch_size).toBe(2);
  });

  it("[MOD-020] wan-image-2.2 needs both LoRA names", async () => {
    expectFieldError(await refused(without(two, "lora_low_name")), "/lora_low_name", "lora_pair_required");
    expectFieldError(await refused(without(two, "lora_high_name")), "/lora_high_name", "lora_pair_required");
    const neither = await refused(without(two, "lora_low_name", "lora_high_name"));
    expect([neither.status, neither.body.code]).toEqual([400, "validation_error"]);
    expect(fieldErrorsOf(neither).map(({ path, code }) => `${path} ${code}`)).toEqual([
      "/lora_low_name lora_pair_required",
      "/lora_high_name lora_pair_required",
    ]);
  });

  it("[MOD-021] wan-image-2.2 accepts the strengths of its LoRAs, and shows them", async () => {
    await taken({ ...two, lora_low_strength: 0.75, lora_high_strength: 1.25 });
  });

  it("[MOD-022] wan-image-2.2 makes three images of batch_size 3", async () => {
    const run = await generated({ ...two, batch_size: 3 });
    expect(new Set(run.image_urls).size).toBe(3);
  });
});

describe("flux-kontext-multi", () => {
  const model_type = "flux-kontext-multi";

  it("[MOD-023] needs a prompt", async () => {
    const body = { model_type, ...minimalFields(suite)[model_type] };
    expectFieldError(await expectNoNewRun(suite, () => suite.caller.generate(body)), "/prompt", "required");
  });

  it("[MOD-024] needs images", async () => {
    const response = await refused({ model_type });
    expect([response.status, response.body.code]).toEqual([400, "validation_error"]);
    expect(fieldErrorsOf(response)).toEqual([expect.objectContaining({ code: "too_few_items" })]);
  });

  it("[MOD-025] counts an address and a run as two images, and uses both", async () => {
    const run = await generated({ model_type, image_urls: [suite.imageUrl()], run_ids: [await suite.uploadImage()] });
    expect((await findSandboxJob(suite, run.run_id)).request.images).toHaveLength(2);
  });

  it("[MOD-026] accepts an aspect ratio and a seed", async () => {
    const body = { model_type, ...minimalFields(suite)[model_type] };
    for (const option of [{ aspect_ratio: "16:9" }, { seed: 8 }, { aspect_ratio: "3:4", seed: 0 }]) {
      await taken({ ...body, ...option });
    }
  });
});

describe("nanobanana", () => {
  it("[MOD-027] requires only a prompt, and accepts a reference", async () => {
    await taken({ model_type: "nanobanana" });
    await taken({ model_type: "nanobanana", reference_image_url: suite.imageUrl() });
  });
});

describe("qwen-image-edit", () => {
  const body = { model_type: "qwen-image-edit", ...SMALL };

  it.each(["width", "height"])("[MOD-028] needs %s", async (side) => {
    expectFieldError(await refused(without(body, side)), `/${side}`, "required");
  });

  it("[MOD-029] works with lora_1, strength_model and negative_prompt, with each alone, and with none", async () => {
    const options = { lora_1: "ink", strength_model: 0.5, negative_prompt: "rain" };
    await generated(body);
    const run = await generated({ ...body, ...options });
    expect(run.inputs).toMatchObject(options);
    await taken({ ...body, lora_1: "ink" });
    await taken({ ...body, negative_prompt: "rain" });
    const withoutLora = await expectGenerateAccepted(suite, { ...body, strength_model: 0.5 });
    expect(withoutLora.inputs.strength_model).toBe(0.5);
    expect(withoutLora.warnings).toEqual([expect.stringMatching(/^strength_model .* without lora_1/)]);
  });
});

describe("gemini-2.5", () => {
  const model_type = "gemini-2.5";

  it("[MOD-030] needs only a prompt", async () => {
    await taken({ model_type });
  });

  it.each(["aspect_ratio", "reference_image_url", "image_urls", "run_ids", "mask_url"])(
    "[MOD-031] accepts %s alone, and the provider gets what it can use",
    async (field) => {
      const scene = sha256(await drawScene());
      const other = await drawScene(64, 48);
      // A mask marks a part of an image: alone it has no effect, and a warning says so.
      const noEffect = [expect.stringContaining("mask_url is ignored without a source image")];
      const cases: Record<string, { value: unknown; images?: string[]; ratio?: string; warnings?: unknown[] }> = {
        aspect_ratio: { value: "4:3", ratio: "4:3" },
        reference_image_url: { value: suite.imageUrl(), images: [scene] },
        image_urls: { value: [suite.imageUrl(), suite.imageUrl("other.png")], images: [scene, scene] },
        run_ids: {
          value: [await suite.uploadImage(other), await suite.uploadImage()],
          images: [sha256(other), scene],
        },
        mask_url: { value: suite.imageUrl(), warnings: noEffect },
      };
      const { value, images = [], ratio, warnings = [] } = cases[field]!;
      const run = await postRefused(suite, "/runs/generate", { prompt: REFUSED_PROMPT, model_type, [field]: value });
      expect(run).toMatchObject({ inputs: { [field]: value }, warnings });
      const { request } = await findSandboxJob(suite, run.run_id);
      expect(request.images.map(({ file }: any) => file)).toEqual(images);
      expect([request.task, request.aspect_ratio, request.mask]).toEqual(["image.generate", ratio, undefined]);
    },
  );

  it("[MOD-032] repaints what is white in the mask and keeps the pixels under black", async () => {
    const source = await uploadedUrl(await drawScene(128, 96));
    const half = await sharp({ create: { width: 128, height: 96, channels: 3, background: "black" } })
      .composite([{ input: { create: { width: 64, height: 96, channels: 3, background: "white" } }, left: 64, top: 0 }])
      .png()
      .toBuffer();
    const mask_url = await uploadedUrl(half);
    const run = await generated({ model_type, prompt: "a green wall", reference_image_url: source, mask_url });
    const [before, after] = [await pixels(source), await pixels(run.image_url)];
    expect(after).toHaveLength(before.length);
    const changed = { left: 0, right: 0 };
    for (let at = 0; at < before.length; at++) {
      const side = Math.floor(at / 3) % 128 < 64 ? "left" : "right";
      if (before[at] !== after[at]) changed[side]++;
    }
    expect(changed.left).toBe(0);
    expect(changed.right).toBeGreaterThan(500);
  });

  it("enlarges each result within a mask in a job of its own, and then reduces it to the factor", async () => {
    const source = await uploadedUrl(await drawScene(128, 96));
    const mask_url = await uploadedUrl(await rightHalfMask());
    const masked = { model_type, prompt: "a green wall", reference_image_url: source, mask_url };
    const run = await generated({ ...masked, upscale_factor: 1.5, batch_size: 2 });
    expect(run.warnings).toEqual([]);
    const sizes = run.outputs.map(({ width, height }: { width: number; height: number }) => [width, height]);
    expect(sizes).toEqual(Array(2).fill([192, 144]));
    expect(new Set(run.outputs.map(({ sha256 }: { sha256: string }) => sha256)).size).toBe(2);
    const { attempts } = (await suite.caller.get(`/runs/${run.run_id}`)).body;
    const jobs = attempts.map(({ job }: { job: number }) => job).toSorted((one: number, other: number) => one - other);
    expect(jobs).toEqual([0, 1, 2, 3, 102, 103]);
  });

  const uploadedUrl = async (bytes: Buffer): Promise<string> =>
    (await suite.caller.get(`/runs/${await suite.uploadImage(bytes)}`)).body.image_url;
});

describe("what a model cannot do", () => {
  it("[MOD-034] vendorc is unavailable where nothing is bound to it", async () => {
    const response = await refused({ model_type: "vendorc" });
    expect([response.status, response.body.code]).toEqual([503, "model_unavailable"]);
  });

  it("[MOD-036] a field of other models is accepted with a warning that names it, and rejected in strict handling", async () => {
    const lists = { image_urls: [suite.imageUrl(), suite.imageUrl()] };
    for (const [model_type, given, field] of [
      ["flux-dev", lists, "image_urls"],
      ["flux-dev", { mask_url: suite.imageUrl() }, "mask_url"],
      ["flux-dev", { lora_1: "ink" }, "lora_1"],
      ["nanobanana", { width: 64 }, "width"],
      ["vendora", { guidance: 3 }, "guidance"],
    ] as const) {
      const { warnings } = await expectGenerateAccepted(suite, { model_type, ...given });
      expect(warnings).toEqual([expect.stringContaining(field)]);
      const response = await refused({ model_type, ...given }, { prefer: "handling=strict" });
      expect([response.status, response.body.code]).toEqual([400, "unsupported_parameter"]);
      expect(fieldErrorsOf(response).map((error) => error.path)).toEqual([`/${field}`]);
    }
    const strict = { prefer: "handling=strict" };
    expect((await expectGenerateAccepted(suite, { model_type: "gemini-2.5", ...lists }, strict)).warnings).toEqual([]);
  });
});
