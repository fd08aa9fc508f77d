// Conformance: images.generate, whatever the model.
import sharp from "sharp";
import { describe, expect } from "vitest";
import { drawScene } from "../support/scene.ts";
import {
  ENDLESS_PROMPT,
  expectFieldError,
  expectGenerateAccepted,
  expectNoNewRun,
  fieldErrorsOf,
  findSandboxJob,
  LORAS,
  listSandboxJobs,
  minimalFields,
} from "./expectations.ts";
import { it } from "./http-and-client.ts";
import { withoutDelay } from "./response-checks.ts";
import { useSuite } from "./suite.ts";

const suite = useSuite();
/** A model that uses negative_prompt, scheduler, steps and cfg_scale. */
const TUNABLE = { model_type: "qwen-image-edit", width: 64, height: 64 };
const SMALL = { width: 64, height: 64 };
const finished = async (body: Record<string, unknown>) => {
  const { status, body: run } = await suite.caller.generate({ ...SMALL, sync: true, ...body });
  expect([status, run.status]).toEqual([200, "completed"]);
  return run;
};

const RUN_FIELDS = [
  ...["run_id", "user_id", "created_at", "updated_at", "image_url", "inputs", "live_status", "status", "progress"],
  ...["run_type", "parent_run_id", "image_urls", "video_url", "outputs", "error", "phase", "queue_position", "model"],
  ...["provider", "cost", "warnings", "metadata", "started_at", "finished_at", "expires_at"],
];

describe("the run that generate makes", () => {
  it("[GEN-001] is accepted on a prompt alone", async () => {
    const { status, body, headers } = await suite.caller.generate({ prompt: "a lone lighthouse" });
    expect(status).toBe(202);
    expect(headers.get("content-type")).toContain("application/json");
    expect(body.run_id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  it("[GEN-002] has the type image-generation, in the response and when it is read", async () => {
    const { body } = await suite.caller.generate({ prompt: "kind", ...SMALL });
    expect(body.run_type).toBe("image-generation");
    expect((await suite.caller.get(`/runs/${body.run_id}`)).body.run_type).toBe("image-generation");
  });

  it("[GEN-003] has no parent, also when runs are its sources", async () => {
    const run_ids = [await suite.uploadImage(), await suite.uploadImage()];
    for (const body of [{}, { model_type: "gemini-2.5", run_ids }, { model_type: "flux-kontext-multi", run_ids }]) {
      const run = await expectGenerateAccepted(suite, body);
      expect(run.parent_run_id ?? null).toBeNull();
      expect((await suite.caller.get(`/runs/${run.run_id}`)).body.parent_run_id ?? null).toBeNull();
    }
  });

  it("[GEN-004] is returned with every field of the Run shape, and its ID and image again under data", async () => {
    const open = (await suite.caller.generate({ prompt: "shape", ...SMALL })).body;
    const ended = await finished({ prompt: "shape" });
    for (const body of [open, ended]) {
      expect(Object.keys(body)).toEqual(expect.arrayContaining(RUN_FIELDS));
      expect(body.data).toEqual({ run_id: body.run_id, image_url: body.image_url });
    }
    expect(ended.data.image_url).toEqual(expect.any(String));
  });

  it("[GEN-006] uses flux-dev where no model type is given", async () => {
    const run = await expectGenerateAccepted(suite, {});
    expect(run.inputs.model_type).toBe("flux-dev");
  });

  it("[GEN-022] is unfinished in the first response, and completed later", async () => {
    const { status, body } = await suite.caller.generate({ prompt: "patience", ...SMALL });
    expect(status).toBe(202);
    expect(["pending", "processing"]).toContain(body.live_status);
    expect(body.image_url).toBeNull();
    const run = await suite.caller.waitUntilEnded(body.run_id);
    expect(run).toMatchObject({ status: "completed", live_status: "completed", image_url: expect.any(String) });
  });

  it("[GEN-023] has an image URL that returns an image", async () => {
    const run = await finished({ prompt: "an image" });
    const response = await fetch(run.image_url);
    expect(response.status).toBe(200);
    const { data, info } = await sharp(Buffer.from(await response.arrayBuffer()))
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect(data).toHaveLength(64 * 64 * info.channels);
  });

  it("[GEN-024] lists every image where there are several, and image_url is one of them", async () => {
    const run = await finished({ prompt: "a pair", batch_size: 2 });
    expect(new Set(run.image_urls).size).toBe(2);
    expect(run.image_urls).toContain(run.image_url);
    for (const url of run.image_urls) expect((await fetch(url)).status).toBe(200);
  });

  it("[GEN-028] makes four images of batch_size 4, all in image_urls and outputs, and refuses 5", async () => {
    const run = await finished({ prompt: "four", batch_size: 4 });
    expect(run.image_urls).toHaveLength(4);
    expect(run.outputs.map((output: any) => output.url)).toEqual(run.image_urls);
    expect(new Set(run.outputs.map((output: any) => output.sha256)).size).toBe(4);
    const refused = await expectNoNewRun(suite, () => suite.caller.generate({ prompt: "five", batch_size: 5 }));
    expectFieldError(refused, "/batch_size", "out_of_range");
  });

  it("[GEN-017] is the same image for the same inputs and seed, and another for another seed", async () => {
    const shot = async (seed: number) => (await finished({ prompt: "a hill", seed })).outputs[0].sha256;
    const [first, second, other] = [await shot(11), await shot(11), await shot(12)];
    expect(second).toBe(first);
    expect(other).not.toBe(first);
  });
});

describe("model types", () => {
  it("[GEN-007] are the ten of the document and vendorc, and none of them is an unknown value", async () => {
    const requests = { ...minimalFields(suite), vendorc: {} };
    expect(Object.keys(requests)).toHaveLength(11);
    for (const [model_type, body] of Object.entries(requests)) {
      const response = await suite.caller.generate({ prompt: ENDLESS_PROMPT, model_type, ...body });
      expect([model_type, response.status]).toEqual([model_type, model_type === "vendorc" ? 503 : 202]);
      if (response.status === 202) await suite.caller.post(`/runs/${response.body.run_id}/cancel`);
    }
    const printed = (await suite.caller.send("GET", "/openapi.json")).body.paths["/api/v1/runs/generate"].post;
    const { anyOf } = printed.requestBody.content["application/json"].schema.properties.model_type;
    expect([...anyOf[0].enum].sort()).toEqual(Object.keys(requests).sort());
    // Any other name that the installation has an offer for.
    expect(anyOf[1]).toMatchObject({ type: "string" });
  });

  it("[GEN-008] outside of that list are refused as unknown values", async () => {
    for (const model_type of ["sdxl", "FLUX-DEV", "flux-dev ", ""]) {
      const refused = await expectNoNewRun(suite, () => suite.caller.generate({ prompt: "x", model_type }));
      expectFieldError(refused, "/model_type", "unknown_value");
    }
  });

  it("[GEN-014] never accept one LoRA name without the other", async () => {
    const requests = Object.entries(minimalFields(suite));
    expect(requests).toHaveLength(10);
    for (const [model_type, { lora_low_name: _low, lora_high_name: _high, ...body }] of requests) {
      for (const [name, value] of Object.entries(LORAS)) {
        const refused = await expectNoNewRun(suite, () =>
          suite.caller.generate({ prompt: "x", model_type, ...body, [name]: value }),
        );
        expect([model_type, refused.status, refused.body.code]).toEqual([model_type, 400, "validation_error"]);
        const codes = fieldErrorsOf(refused).map((error) => error.code);
        expect(new Set(codes)).toEqual(new Set(["lora_pair_required"]));
      }
    }
  });

  it("[GEN-021] alone choose the backend: each run names the offer that is bound to its type", async () => {
    for (const [model_type, upstream] of [
      ["flux-dev", "replay/flux-dev"],
      ["vendora", "blind/vendora"],
    ]) {
      const run = await finished({ prompt: "the same words", seed: 3, model_type });
      expect([run.model, run.provider]).toEqual([model_type, "sandbox"]);
      expect((await findSandboxJob(suite, run.run_id)).model).toBe(upstream);
    }
  });
});

describe("fields of generate", () => {
  it("[GEN-005] a prompt is required", async () => {
    const refused = await expectNoNewRun(suite, () => suite.caller.generate({ ...SMALL }));
    expectFieldError(refused, "/prompt", "required");
  });

  it("[GEN-029] a prompt of spaces only is refused", async () => {
    for (const prompt of ["", "   ", "\t\n", "\u2003\u200b"]) {
      const refused = await expectNoNewRun(suite, () => suite.caller.generate({ prompt }));
      expect([refused.status, refused.body.code]).toEqual([400, "validation_error"]);
      expect(fieldErrorsOf(refused).map((error) => error.path)).toEqual(["/prompt"]);
    }
  });

  it("[GEN-009] a model_id that is no UUID is refused as such", async () => {
    for (const model_id of ["my-model", "1234", "01990c3e-2f00-7000-8000-0000000000zz"]) {
      const refused = await expectNoNewRun(suite, () => suite.caller.generate({ prompt: "x", model_id }));
      expectFieldError(refused, "/model_id", "invalid_uuid");
    }
  });

  it.each([
    ...["width", "height", "strength_model", "model_weight", "guidance", "lora_low_strength", "lora_high_strength"],
    ...["seed", "steps", "cfg_scale", "batch_size", "batch_count", "upscale_factor"],
  ])("[GEN-010] %s is a number: text is refused", async (field) => {
    for (const value of ["64", "1", "many"]) {
      const refused = await expectNoNewRun(suite, () => suite.caller.generate({ prompt: "x", [field]: value }));
      expectFieldError(refused, `/${field}`, "invalid_type");
    }
  });

  it.each([
    ...["prompt", "negative_prompt", "scheduler", "aspect_ratio", "lora_low_name", "lora_high_name", "lora_1"],
    ...["reference_image_url", "webhook_url"],
  ])("[GEN-011] %s is text: a number is refused", async (field) => {
    const refused = await expectNoNewRun(suite, () => suite.caller.generate({ prompt: "x", ...LORAS, [field]: 12 }));
    expectFieldError(refused, `/${field}`, "invalid_type");
  });

  it("[GEN-012] negative_prompt and scheduler are optional, and shown as they were given", async () => {
    const given = { negative_prompt: " no  rain, ünïcode ☔ ", scheduler: "DPM++ 2M Karras" };
    const run = await expectGenerateAccepted(suite, { ...TUNABLE, ...given });
    expect(run).toMatchObject({ inputs: given, warnings: [] });
    const bare = await expectGenerateAccepted(suite, {});
    for (const field of Object.keys(given)) expect(bare.inputs).not.toHaveProperty(field);
  });

  it("[GEN-013] steps, cfg_scale, batch_count and upscale_factor are optional, shown as they were given, and reach the provider", async () => {
    const given = { steps: 27, cfg_scale: 6.25, batch_count: 3, upscale_factor: 1.5 };
    const run = await finished({ prompt: withoutDelay("given"), ...TUNABLE, ...given });
    expect(run).toMatchObject({ inputs: given, warnings: [] });
    const [made, ...upscaled] = await listSandboxJobs(suite, run.run_id);
    expect([made!.request.options, made!.request.count]).toEqual([{ steps: 27, cfg_scale: 6.25 }, 3]);
    // Jobs of their own enlarge the images to twice their size, and Gesso reduces them.
    expect(upscaled.map(({ request }) => request.options)).toEqual(Array(3).fill({ factor: 2 }));
    expect(run.outputs.map(({ width, height }: any) => [width, height])).toEqual(Array(3).fill([96, 96]));
    for (const [field, value] of Object.entries(given)) {
      expect((await expectGenerateAccepted(suite, { [field]: value })).inputs[field]).toBe(value);
    }
    const bare = await finished({ prompt: withoutDelay("bare") });
    for (const field of Object.keys(given)) expect(bare.inputs).not.toHaveProperty(field);
    const { options, count } = (await findSandboxJob(suite, bare.run_id)).request;
    expect([options, count]).toEqual([undefined, 1]);
  });

  it("[GEN-015] reference_image_url is accepted by a model that uses it, and shown", async () => {
    const reference_image_url = suite.imageUrl("reference.png");
    const run = await finished({ prompt: "in that style", reference_image_url });
    expect(run).toMatchObject({ inputs: { reference_image_url }, warnings: [] });
    expect((await findSandboxJob(suite, run.run_id)).request.images).toHaveLength(1);
    const secure = "https://images.example.com/style.png";
    expect((await expectGenerateAccepted(suite, { reference_image_url: secure })).inputs.reference_image_url).toBe(
      secure,
    );
  });

  it("[GEN-027] reference_image_url, mask_url and image_urls accept URLs only, never base64", async () => {
    const base64 = (await drawScene()).toString("base64");
    for (const sourceImage of [base64, `data:image/png;base64,${base64}`]) {
      for (const [path, body] of [
        ["/reference_image_url", { reference_image_url: sourceImage }],
        ["/mask_url", { mask_url: sourceImage, model_type: "gemini-2.5" }],
        ["/image_urls/0", { image_urls: [sourceImage, suite.imageUrl()], model_type: "gemini-2.5" }],
      ] as const) {
        const refused = await expectNoNewRun(suite, () => suite.caller.generate({ prompt: "x", ...body }));
        expect([refused.status, refused.body.code]).toEqual([400, "validation_error"]);
        expect(fieldErrorsOf(refused).map((error) => error.path)).toEqual([path]);
      }
    }
  });

  it("[GEN-016] come as JSON: a form is refused, with and without a file", async () => {
    const forms = [suite.form({ prompt: "x" }), suite.form({ prompt: "x", reference_image_url: await drawScene() })];
    for (const form of forms) {
      const refused = await expectNoNewRun(suite, () => suite.caller.post("/runs/generate", form));
      expect([refused.status, refused.body.code]).toEqual([415, "unsupported_media_type"]);
    }
  });

  it("[GEN-018] metadata must be an object", async () => {
    for (const metadata of [["a"], "note", 7, true]) {
      const refused = await expectNoNewRun(suite, () => suite.caller.generate({ prompt: "x", metadata }));
      expectFieldError(refused, "/metadata", "invalid_type");
    }
  });

  it("[GEN-019] metadata comes back as it was given, whatever it holds", async () => {
    const metadata = {
      text: "ünïcode ☂ 𝒳",
      number: 0.1,
      whole: 9007199254740991,
      yes: true,
      no: false,
      nothing: null,
      list: [1, "two", null, [3], {}],
      object: { nested: { deep: [] }, "": "empty key" },
      constructor: "a word like any other",
    };
    const run = await expectGenerateAccepted(suite, { metadata });
    expect(run.metadata).toEqual(metadata);
    expect((await suite.caller.get(`/runs/${run.run_id}`)).body.metadata).toEqual(metadata);
  });

  it("[GEN-030] seed is an integer from 0 to 4294967295", async () => {
    for (const seed of [0, 4294967295]) expect((await expectGenerateAccepted(suite, { seed })).inputs.seed).toBe(seed);
    for (const [seed, code] of [
      [4294967296, "out_of_range"],
      [-1, "out_of_range"],
      [1.5, "invalid_type"],
    ]) {
      const refused = await expectNoNewRun(suite, () => suite.caller.generate({ prompt: "x", seed }));
      expectFieldError(refused, "/seed", code as string);
    }
  });

  it("[GEN-031] width is an integer: half a pixel is rejected", async () => {
    const refused = await expectNoNewRun(suite, () => suite.caller.generate({ prompt: "x", width: 512.5 }));
    expectFieldError(refused, "/width", "invalid_type");
  });

  it("[GEN-032] an aspect ratio that the offer cannot make is adapted with a warning, or refused in strict handling", async () => {
    const body = { prompt: "wide", model_type: "vendorb-imagen4", aspect_ratio: "5:2" };
    const { status, body: open } = await suite.caller.generate(body);
    expect(status).toBe(202);
    expect(open.warnings).toEqual([expect.stringContaining("aspect_ratio")]);
    const run = await suite.caller.waitUntilEnded(open.run_id);
    expect(run.status).toBe("completed");
    expect((await findSandboxJob(suite, run.run_id)).request.aspect_ratio).toBe("21:9");
    expect(run.outputs[0].width / run.outputs[0].height).toBeCloseTo(21 / 9, 1);

    const refused = await expectNoNewRun(suite, () => suite.caller.generate(body, { prefer: "handling=strict" }));
    expect([refused.status, refused.body.code]).toEqual([400, "unsupported_parameter"]);
    expect(fieldErrorsOf(refused).map((error) => error.path)).toEqual(["/aspect_ratio"]);
    const fitting = { ...body, prompt: ENDLESS_PROMPT, aspect_ratio: "16:9" };
    expect((await expectGenerateAccepted(suite, fitting, { prefer: "handling=strict" })).warnings).toEqual([]);
  });
});
