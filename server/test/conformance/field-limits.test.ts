// Conformance: the limits of fields, headers and lists. Bytes, pixels, depth and time are in size-limits.test.ts.
import { describe, expect } from "vitest";
import { drawScene } from "../support/scene.ts";
import {
  type Body,
  CUSTOM_MODEL_FIELDS,
  CUSTOM_MODEL_FIELDS_2_2,
  ENDLESS_PROMPT,
  expectAccepted,
  expectFieldError,
  expectGenerateAccepted,
  expectNoNewRun,
  fieldErrorsOf,
  findSandboxJob,
  LORAS,
} from "./expectations.ts";
import { it } from "./http-and-client.ts";
import { postRefused, REFUSED_PROMPT } from "./response-checks.ts";
import { useOwnSuite } from "./suite.ts";

const suite = useOwnSuite({ SYNC_SECONDS: "2" });
const WAN_1 = { model_type: "wan-image-2.1", ...CUSTOM_MODEL_FIELDS };
const WAN_2 = { model_type: "wan-image-2.2", ...CUSTOM_MODEL_FIELDS_2_2, ...LORAS };
const QWEN = { model_type: "qwen-image-edit", width: 64, height: 64 };

const refused = (path: string, body: unknown) => expectNoNewRun(suite, () => suite.caller.post(path, body));
const urls = (count: number) => Array.from({ length: count }, (_, index) => suite.imageUrl(`${index}.png`));
const runs = async (count: number): Promise<string[]> =>
  count > 0 ? [await suite.uploadImage(), ...(await runs(count - 1))] : [];

/** The value of a field of generate in the job that the sandbox received. */
const receivedValue = (field: string, { count, options, ...job }: Record<string, any>): unknown =>
  field.startsWith("batch_") ? count : (job[field] ?? options?.[field]);

describe("numbers of generate", () => {
  it.each<[string, string, number, number, number, number, Body]>([
    ["LIM-001", "width", 63, 64, 2048, 2049, { height: 512 }],
    ["LIM-002", "height", 63, 64, 2048, 2049, { width: 512 }],
    ["LIM-003", "strength_model", -0.01, 0, 2, 2.01, WAN_1],
    ["LIM-005", "model_weight", -0.01, 0, 1, 1.01, WAN_1],
    ["LIM-007", "guidance", -0.01, 0, 100, 100.01, WAN_1],
    ["LIM-009", "lora_low_strength", -0.01, 0, 2, 2.01, WAN_2],
    ["LIM-011", "lora_high_strength", -0.01, 0, 2, 2.01, WAN_2],
    ["LIM-013", "batch_size", 0, 1, 4, 5, WAN_2],
    ["LIM-015", "steps", 0, 1, 100, 101, {}],
    ["LIM-016", "cfg_scale", -0.01, 0, 30, 30.01, WAN_1],
    ["LIM-017", "batch_count", 0, 1, 4, 5, {}],
    ["LIM-018", "upscale_factor", 0.99, 1, 4, 4.01, {}],
  ])("[%s] %s: %d is refused, %d and %d are taken, %d is refused", async (_id, field, below, min, max, above, body) => {
    for (const value of [below, above]) {
      expectFieldError(
        await refused("/runs/generate", { prompt: "x", ...body, [field]: value }),
        `/${field}`,
        "out_of_range",
      );
    }
    await Promise.all(
      [min, max].map(async (value) => {
        const run = await postRefused(suite, "/runs/generate", { prompt: REFUSED_PROMPT, ...body, [field]: value });
        expect([run.inputs[field], run.warnings]).toEqual([value, []]);
        // This model does not enlarge: a second job does.
        const sent = field === "upscale_factor" ? undefined : value;
        expect(receivedValue(field, (await findSandboxJob(suite, run.run_id)).request)).toBe(sent);
      }),
    );
  });

  it.each<[string, string, number, Body]>([
    ["LIM-004", "strength_model", 1, QWEN],
    ["LIM-006", "model_weight", 0.7, WAN_1],
    ["LIM-008", "guidance", 7.5, WAN_1],
    ["LIM-010", "lora_low_strength", 0.5, WAN_2],
    ["LIM-012", "lora_high_strength", 1, WAN_2],
    ["LIM-014", "batch_size", 1, WAN_2],
  ])("[%s] %s is %d where nothing is said", async (_id, field, value, body) => {
    const run = await expectGenerateAccepted(suite, body);
    expect(run.inputs[field]).toBe(value);
    expect((await suite.caller.get(`/runs/${run.run_id}`)).body.inputs[field]).toBe(value);
  });
});

describe("numbers of other operations", () => {
  it.each<[string, string, number, number, number, number]>([
    ["LIM-019", "cfg_scale", -0.01, 0, 30, 30.01],
    ["LIM-020", "duration", 0, 1, 60, 61],
    ["LIM-022", "fps", 0, 1, 60, 61],
    ["LIM-023", "motion_bucket_id", 0, 1, 255, 256],
  ])(
    "[%s] %s of a video: %d is rejected, %d and %d are accepted, %d is rejected",
    async (_id, field, below, min, max, above) => {
      const body = { prompt: ENDLESS_PROMPT, image_url: suite.imageUrl() };
      for (const value of [below, above]) {
        expectFieldError(await refused("/runs/video", { ...body, [field]: value }), `/${field}`, "out_of_range");
      }
      for (const value of [min, max]) {
        expect((await expectAccepted(suite, "/runs/video", { ...body, [field]: value })).input[field]).toBe(value);
      }
    },
  );

  it("[LIM-021] duration of a video is 3 by default", async () => {
    const run = await expectAccepted(suite, "/runs/video", { prompt: ENDLESS_PROMPT, image_url: suite.imageUrl() });
    expect(run.input.duration).toBe(3);
  });

  it("[LIM-024] n of edit.vendora: 0 is rejected, 1 and 4 are accepted, 5 is rejected", async () => {
    const body = { prompt: ENDLESS_PROMPT, image_url: suite.imageUrl() };
    for (const n of [0, 5]) expectFieldError(await refused("/edits/vendora", { ...body, n }), "/n", "out_of_range");
    for (const n of [1, 4]) expect((await expectAccepted(suite, "/edits/vendora", { ...body, n })).inputs.n).toBe(n);
  });

  it("[LIM-031] seed of flux-kontext-max is an integer from 0, in generating and in editing", async () => {
    const source = { original_run_id: await suite.uploadImage(), model: "flux-kontext-max" };
    for (const [path, body] of [
      ["/runs/generate", { model_type: "flux-kontext-max", prompt: ENDLESS_PROMPT }],
      ["/edits/flux-kontext", { ...source, prompt: ENDLESS_PROMPT }],
    ] as const) {
      expectFieldError(await refused(path, { ...body, seed: -1 }), "/seed", "out_of_range");
      expectFieldError(await refused(path, { ...body, seed: 1.5 }), "/seed", "invalid_type");
      for (const seed of [0, 1]) expect((await expectAccepted(suite, path, { ...body, seed })).inputs.seed).toBe(seed);
    }
  });
});

describe("lists of images", () => {
  const gemini = (lists: Body) => ({ model_type: "gemini-2.5", prompt: ENDLESS_PROMPT, ...lists });
  const multi = (lists: Body) => ({ model_type: "flux-kontext-multi", prompt: ENDLESS_PROMPT, ...lists });
  /** Each entry: what is sent, and what is wrong with it, if anything. */
  const judge = async (path: string, cases: [Body, string?][]) => {
    for (const [body, problem] of cases) {
      if (problem === undefined) {
        await expectAccepted(suite, path, body);
        continue;
      }
      const response = await refused(path, body);
      expect([response.status, response.body.code]).toEqual([400, "validation_error"]);
      expect(new Set(fieldErrorsOf(response).map((error) => error.code))).toEqual(new Set([problem]));
    }
  };

  it("[LIM-025] image_urls of gemini-2.5 has 2 to 10 entries", async () => {
    await judge("/runs/generate", [
      [gemini({ image_urls: urls(1) }), "too_few_items"],
      [gemini({ image_urls: urls(2) })],
      [gemini({ image_urls: urls(10) })],
      [gemini({ image_urls: urls(11) }), "too_many_items"],
    ]);
  });

  it("[LIM-026] run_ids of gemini-2.5 has 2 to 10 entries", async () => {
    const ids = await runs(11);
    await judge("/runs/generate", [
      [gemini({ run_ids: ids.slice(0, 1) }), "too_few_items"],
      [gemini({ run_ids: ids.slice(0, 2) })],
      [gemini({ run_ids: ids.slice(0, 10) })],
      [gemini({ run_ids: ids }), "too_many_items"],
    ]);
  });

  it("[LIM-027] flux-kontext-multi accepts 2 to 4 images, URLs and runs counted together", async () => {
    const ids = await runs(5);
    await judge("/runs/generate", [
      [multi({ image_urls: urls(1) }), "too_few_items"],
      [multi({ run_ids: ids.slice(0, 1) }), "too_few_items"],
      [multi({ image_urls: urls(1), run_ids: ids.slice(0, 1) })],
      [multi({ image_urls: urls(2), run_ids: ids.slice(0, 2) })],
      [multi({ image_urls: urls(4) })],
      [multi({ run_ids: ids.slice(0, 4) })],
      [multi({ image_urls: urls(3), run_ids: ids.slice(0, 2) }), "too_many_items"],
      [multi({ image_urls: urls(5) }), "too_many_items"],
      [multi({ run_ids: ids }), "too_many_items"],
    ]);
  });

  it("[LIM-028] combine accepts 2 to 10 images", async () => {
    const ids = await runs(5);
    await judge("/combine", [
      [{ images: urls(1) }, "too_few_items"],
      [{ images: urls(2) }],
      [{ images: [...urls(5), ...ids] }],
      [{ images: [...urls(6), ...ids] }, "too_many_items"],
    ]);
  });

  it.each(["nanobanana", "gemini-2.5"])(
    "[LIM-029] image_urls of combine.%s, alone, has 2 to 10 entries",
    async (model) => {
      await judge(`/combine/${model}`, [
        [{ prompt: ENDLESS_PROMPT, image_urls: urls(1) }, "too_few_items"],
        [{ prompt: ENDLESS_PROMPT, image_urls: urls(2) }],
        [{ prompt: ENDLESS_PROMPT, image_urls: urls(10) }],
        [{ prompt: ENDLESS_PROMPT, image_urls: urls(11) }, "too_many_items"],
      ]);
    },
  );

  it.each(["nanobanana", "gemini-2.5"])(
    "[LIM-030] run_ids of combine.%s, alone, has 2 to 10 entries",
    async (model) => {
      const ids = await runs(11);
      await judge(`/combine/${model}`, [
        [{ prompt: ENDLESS_PROMPT, run_ids: ids.slice(0, 1) }, "too_few_items"],
        [{ prompt: ENDLESS_PROMPT, run_ids: ids.slice(0, 2) }],
        [{ prompt: ENDLESS_PROMPT, run_ids: ids.slice(0, 10) }],
        [{ prompt: ENDLESS_PROMPT, run_ids: ids }, "too_many_items"],
      ]);
    },
  );
});

describe("text", () => {
  const LONG = ENDLESS_PROMPT + "x".repeat(8000 - ENDLESS_PROMPT.length);
  const image_url = () => suite.imageUrl();
  const sources: Record<string, () => Promise<Body>> = {
    "/runs/generate": async () => ({}),
    "/runs/video": async () => ({ image_url: image_url() }),
    "/videos": async () => ({}),
    "/runs/character": async () => ({ character_reference_image: image_url() }),
    "/runs/reference": async () => ({}),
    "/edits/segment": async () => ({ imageUrl: image_url(), sync: false }),
    "/edits/generative-remove": async () => ({ image_url: image_url() }),
    "/edits/extract": async () => ({ image_url: image_url() }),
    "/edits/reframe": async () => ({ image_url: image_url(), aspect_ratio: "1:1" }),
    "/edits/mask": async () => ({ original_image_url: image_url(), mask_image_url: image_url(), sync: false }),
    "/edits": async () => ({ image: image_url() }),
    "/edits/vendora": async () => ({ image_url: image_url() }),
    "/edits/nanobanana": async () => ({ image_url: image_url() }),
    "/edits/gemini-2.5": async () => ({ image_url: image_url() }),
    "/edits/flux-kontext": async () => ({ original_run_id: await suite.uploadImage(), model: "flux-kontext-max" }),
    "/combine/nanobanana": async () => ({ image_urls: urls(2) }),
    "/combine/gemini-2.5": async () => ({ image_urls: urls(2) }),
    "/prompts/enhance": async () => ({}),
  };

  it.each(Object.keys(sources))(
    "[LIM-032] a prompt of 8,000 characters is accepted and of 8,001 rejected by %s",
    async (path) => {
      const body = await sources[path]!();
      await expectAccepted(suite, path, { ...body, prompt: LONG });
      expectFieldError(await refused(path, { ...body, prompt: `${LONG}x` }), "/prompt", "too_long");
    },
  );

  it("the operations above are all that accept a prompt", async () => {
    const { paths } = (await suite.caller.send("GET", "/openapi.json")).body;
    const taking = Object.keys(paths).filter(
      (path) => paths[path].post?.requestBody?.content["application/json"]?.schema.properties.prompt,
    );
    expect(taking.sort()).toEqual(
      Object.keys(sources)
        .map((path) => `/api/v1${path}`)
        .sort(),
    );
  });

  it.each(Object.keys(sources))("[LIM-033] the prompt of %s is counted in code points", async (path) => {
    const body = await sources[path]!();
    const prompt = "𝒳".repeat(8000);
    expect([prompt.length, Buffer.byteLength(prompt)]).toEqual([16_000, 32_000]);
    await expectAccepted(suite, path, { ...body, prompt, sync: false });
    expectFieldError(await refused(path, { ...body, prompt: `${prompt}𝒳` }), "/prompt", "too_long");
  });

  it.each(["/runs/generate", "/runs/video"])(
    "[LIM-034] negative_prompt of %s has at most 8,000 code points",
    async (path) => {
      const body = { ...(await sources[path]!()), prompt: ENDLESS_PROMPT };
      for (const letter of ["x", "𝒳"]) {
        const negative_prompt = letter.repeat(8000);
        expect((await expectAccepted(suite, path, { ...body, negative_prompt })).inputs.negative_prompt).toBe(
          negative_prompt,
        );
        const longer = await refused(path, { ...body, negative_prompt: negative_prompt + letter });
        expectFieldError(longer, "/negative_prompt", "too_long");
      }
    },
  );

  it.each([
    ["/runs/generate", (url: string) => ({ reference_image_url: url }), "/reference_image_url"],
    ["/runs/generate", (url: string) => ({ model_type: "gemini-2.5", image_urls: [url, url] }), "/image_urls/0"],
    ["/edits/vendora", (url: string) => ({ image_url: url }), "/image_url"],
    ["/combine/gemini-2.5", (url: string) => ({ images: [url, suite.imageUrl()] }), "/images/0"],
  ])("[LIM-047] an image address of 2,048 characters is taken and of 2,049 refused by %s", async (path, bodyOf, at) => {
    const url = suite.imageUrl().padEnd(2048, "a");
    await expectAccepted(suite, path, { prompt: ENDLESS_PROMPT, ...bodyOf(url) });
    const longer = await refused(path, { prompt: ENDLESS_PROMPT, ...bodyOf(`${url}a`) });
    expect([longer.status, longer.body.code]).toEqual([400, "validation_error"]);
    expect(fieldErrorsOf(longer)).toContainEqual(expect.objectContaining({ path: at, code: "too_long" }));
  });

  it("[LIM-048] webhook_secret has 16 to 255 bytes", async () => {
    const sends = { webhook_url: "https://hooks.example.com/gesso" };
    const bytes = (count: number) => [`s`.repeat(count), `${"é".repeat(Math.floor(count / 2))}${count % 2 ? "s" : ""}`];
    for (const webhook_secret of [...bytes(16), ...bytes(255)])
      await expectGenerateAccepted(suite, { ...sends, webhook_secret });
    for (const [count, code] of [
      [15, "weak_secret"],
      [256, "too_long"],
    ] as const) {
      for (const webhook_secret of bytes(count)) {
        const response = await refused("/runs/generate", { prompt: "x", ...sends, webhook_secret });
        expectFieldError(response, "/webhook_secret", code);
      }
    }
  });
});

describe("metadata", () => {
  const nested = (levels: number): Body => (levels > 1 ? { deeper: nested(levels - 1) } : { end: true });
  const sized = (bytes: number): Body => {
    const space = bytes - Buffer.byteLength(JSON.stringify({ note: "é" }));
    return { note: `é${"x".repeat(space)}` };
  };
  const keyed = (keys: number): Body =>
    Object.fromEntries(Array.from({ length: keys }, (_, index) => [`k${index}`, index]));

  it.each<[string, string, (size: number) => Body, number]>([
    ["LIM-035", "16,384 bytes of compact JSON", sized, 16_384],
    ["LIM-036", "64 keys", keyed, 64],
    ["LIM-037", "8 levels", nested, 8],
  ])("[%s] has at most %s, in a run and in an upload", async (_id, _says, metadataOf, most) => {
    const fits = metadataOf(most);
    expect((await expectGenerateAccepted(suite, { metadata: fits })).metadata).toEqual(fits);
    const upload = await suite.caller.post(
      "/upload",
      suite.form({ file: await drawScene(), metadata: JSON.stringify(fits) }),
    );
    expect((await suite.caller.get(`/runs/${upload.body.data.run_id}`)).body.metadata).toEqual(fits);

    const metadata = metadataOf(most + 1);
    const image = Buffer.from("never looked at");
    for (const response of [
      await refused("/runs/generate", { prompt: "x", metadata }),
      await refused("/upload", suite.form({ file: image, metadata: JSON.stringify(metadata) })),
    ]) {
      expect([response.status, response.body.code]).toEqual([400, "validation_error"]);
      expect(fieldErrorsOf(response).map((error) => error.path)).toEqual(["/metadata"]);
    }
  });

  it("[LIM-035] is measured as it would be written in bytes, not in characters", async () => {
    expect(Buffer.byteLength(JSON.stringify(sized(16_384)))).toBe(16_384);
    const metadata = { note: "é".repeat(8190) };
    expect([JSON.stringify(metadata).length, Buffer.byteLength(JSON.stringify(metadata))]).toEqual([8201, 16_391]);
    expect((await refused("/runs/generate", { prompt: "x", metadata })).status).toBe(400);
  });
});

describe("headers, lists and waiting", () => {
  it("[LIM-049] Idempotency-Key is 1 to 255 visible ASCII characters", async () => {
    const send = (key: string) => suite.caller.generate({ prompt: ENDLESS_PROMPT }, { "idempotency-key": key });
    const unique = crypto.randomUUID();
    for (const key of ["~", unique.padEnd(255, "!")]) {
      const response = await send(key);
      expect(response.status).toBe(202);
      await suite.caller.post(`/runs/${response.body.run_id}/cancel`);
      expect((await send(key)).body.run_id).toBe(response.body.run_id);
    }
    for (const key of ["", unique.padEnd(256, "!"), "with space", "tab\there", "naïve"]) {
      const reply = await expectNoNewRun(suite, () => send(key));
      expect([key, reply.status, reply.body.code]).toEqual([key, 400, "idempotency_key_invalid"]);
    }
  });

  it("[LIM-050] limit of the run list is 1 to 100", async () => {
    for (const limit of [1, 100]) {
      const { status, body } = await suite.caller.get(`/runs?limit=${limit}`);
      expect(status).toBe(200);
      expect(body.data.length).toBeLessThanOrEqual(limit);
    }
    for (const limit of ["0", "101", "-1", "1.5", "many", ""]) {
      const response = await suite.caller.get(`/runs?limit=${limit}`);
      expect([limit, response.status, response.body.code]).toEqual([limit, 400, "validation_error"]);
      expect(fieldErrorsOf(response).map((error) => error.path)).toEqual(["/limit"]);
    }
  });

  it("[LIM-051] a page of the run list has 20 runs by default", async () => {
    const parent = await suite.uploadImage();
    const page = () => suite.caller.get(`/runs?parent_run_id=${parent}`);
    for (let count = 0; count < 20; count++) await suite.uploadImage(undefined, { parent_id: parent });
    expect((await page()).body).toMatchObject({ data: { length: 20 }, next_cursor: null });
    await suite.uploadImage(undefined, { parent_id: parent });
    expect((await page()).body).toMatchObject({ data: { length: 20 }, next_cursor: expect.any(String) });
  });

  it("[LIM-046] a caller waits only as long as the operator has set", async () => {
    const begun = Date.now();
    const { status, body } = await suite.caller.generate({ prompt: ENDLESS_PROMPT, sync: true });
    expect([status, body.image_url]).toEqual([202, null]);
    expect(Date.now() - begun).toBeGreaterThanOrEqual(1900);
    // Without the setting it would be 55 s.
    expect(Date.now() - begun).toBeLessThan(50_000);
    await suite.caller.post(`/runs/${body.run_id}/cancel`);
  });
});
