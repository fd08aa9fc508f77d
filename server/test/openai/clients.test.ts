// OpenAI's own clients, the AI SDK and the requests of Open WebUI and LibreChat against a running Gesso.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOpenAI } from "@ai-sdk/openai";
import { generateImage } from "ai";
import OpenAI, { APIError, NotFoundError, RateLimitError, toFile } from "openai";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RunLimitsEnv } from "../../src/runs/core/run-settings.ts";
import { createHttpCaller, readSandboxLedger } from "../support/api-caller.ts";
import { runPython } from "../support/python.ts";
import { createTestTenant } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const PROMPT = "a red bicycle [sandbox:delay=0]";
const SIZE = "256x192";

const folder = mkdtempSync(join(tmpdir(), "gesso-openai-"));
let environment: TestEnvironment;
let client: OpenAI;
beforeAll(async () => {
  const file = join(folder, "gesso.yaml");
  writeFileSync(file, "models: { nanobanana: [{ provider: sandbox, price: 0.25 }] }\n");
  // Requests of the public API wait for 1 s at most. Those of OpenAI's clients wait longer.
  environment = await startTestEnvironment({ env: { GESSO_CONFIG: file, SYNC_SECONDS: "1" } });
  client = new OpenAI({ baseURL: `${environment.url}/openai/v1`, apiKey: environment.key });
});
afterAll(async () => {
  await environment?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const api = () => createHttpCaller(environment);
const send = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  api().send("POST", `/openai/v1${path}`, { body, headers });
const imageOf = (base64: string | undefined) => sharp(Buffer.from(base64 ?? "", "base64")).metadata();
const lastRun = async () => (await api().get("/runs?limit=1")).body.data[0];
const jobsWith = async (prompt: string) =>
  (await readSandboxLedger(environment)).filter(({ request }) => JSON.stringify(request).includes(prompt));

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** An image of one color. With `isMask`, its left half is transparent. */
const square = async (background: string, isMask = false) => {
  const whole = { create: { width: 64, height: 64, channels: 4 as const, background } };
  const pixels = await sharp(whole).raw().toBuffer();
  if (isMask) for (let at = 0; at < pixels.length; at += 4) if ((at / 4) % 64 < 32) pixels.fill(0, at, at + 4);
  return sharp(pixels, { raw: { width: 64, height: 64, channels: 4 } })
    .png()
    .toBuffer();
};
const upload = async (background: string, name = "image.png") =>
  toFile(await square(background), name, { type: "image/png" });

describe("openai-node", () => {
  it("[OAI-1] generates images as base64 and as URLs", async () => {
    const { data, created, size, output_format } = await client.images.generate({ prompt: PROMPT, n: 2, size: SIZE });
    expect([data?.length, size, output_format]).toEqual([2, SIZE, "png"]);
    expect(Math.abs(created - Date.now() / 1000)).toBeLessThan(120);
    for (const { b64_json } of data!)
      expect(await imageOf(b64_json)).toMatchObject({ width: 256, height: 192, format: "png" });

    const urls = await client.images.generate({ prompt: PROMPT, size: SIZE, response_format: "url" });
    expect(urls.data).toEqual([{ url: expect.stringContaining(environment.url) }]);
    expect((await fetch(urls.data![0]!.url!)).headers.get("content-type")).toBe("image/png");
  });

  it("[OAI-1] makes ordinary runs, with their cost, and edits of a result are below it in the tree", async () => {
    const { data } = await client.images.generate({ prompt: PROMPT, model: "nanobanana", response_format: "url" });
    const parent = await lastRun();
    expect(parent).toMatchObject({ operation: "images.generate", status: "completed", model: "nanobanana" });
    expect(parent.cost.amount).toBe(0.25);
    await send("/images/edits", { prompt: PROMPT, image: data![0]!.url, model: "nanobanana" });
    const child = await lastRun();
    expect(child).toMatchObject({ operation: "images.edit.openai", parent_run_id: parent.run_id });
    const again = await api().post(`/runs/${child.run_id}/rerun`, { changes: { prompt: "again [sandbox:delay=0]" } });
    expect(again.status).toBe(202);
    expect(await api().waitUntilEnded(again.body.run_id)).toMatchObject({ status: "completed" });
  });

  it("[OAI-1] makes variations", async () => {
    const { data } = await client.images.createVariation({ image: await upload("#336699"), n: 2 });
    expect(data).toHaveLength(2);
    expect(await lastRun()).toMatchObject({ operation: "images.vary", status: "completed" });
  });

  it("[OAI-5] gets one response for a slow run, and never an open run", async () => {
    const seconds = Number(process.env.SLOW_SECONDS ?? 3);
    const prompt = `slow [sandbox:delay=${seconds}]`;
    const { data, response } = await client.images.generate({ prompt, size: SIZE }).withResponse();
    expect([response.status, data.data?.length]).toEqual([200, 1]);
    expect(await jobsWith("slow")).toHaveLength(1);
    expect(RunLimitsEnv.parse({}).OPENAI_WAIT_SECONDS).toBe(290);
  });
});

describe("openai-python", () => {
  it("[OAI-2] generates, edits and streams images, and reads errors", async () => {
    const image = join(folder, "image.png");
    writeFileSync(image, await square("#336699"));
    const program = `
import base64, json, openai
client = openai.OpenAI(max_retries=0)
prompt = "${PROMPT}"
made = client.images.generate(prompt=prompt, n=2, size="${SIZE}")
url = client.images.generate(prompt=prompt, size="${SIZE}", response_format="url").data[0].url
with open("${image}", "rb") as one, open("${image}", "rb") as two:
    edited = client.images.edit(image=[one, two], prompt=prompt)
events = list(client.images.generate(prompt=prompt, size="${SIZE}", stream=True))
errors = []
for fail in [lambda: client.images.generate(prompt=prompt, model="gpt-image-9"),
             lambda: list(client.images.generate(prompt="[sandbox:fail]", stream=True))]:
    try:
        fail()
    except openai.APIError as error:
        errors.append([type(error).__name__, error.code])
print(json.dumps({
    "images": [base64.b64decode(each.b64_json)[1:4].decode() for each in made.data + edited.data],
    "url": url,
    "events": [[event.type, base64.b64decode(event.b64_json)[1:4].decode(), event.size] for event in events],
    "errors": errors,
    "models": [model.id for model in client.models.list()],
    "model": client.models.retrieve("vendora").id,
}))`;
    const env = { OPENAI_BASE_URL: `${environment.url}/openai/v1`, OPENAI_API_KEY: environment.key };
    expect(await runPython(program, { env })).toEqual({
      images: ["PNG", "PNG", "PNG"],
      url: expect.stringContaining(environment.url),
      events: [["image_generation.completed", "PNG", SIZE]],
      errors: [
        ["NotFoundError", "model_not_found"],
        ["APIError", "provider_error"],
      ],
      models: expect.arrayContaining(["flux-dev", "vendora", "edit-default"]),
      model: "vendora",
    });
  });
});

describe("other clients", () => {
  it("[OAI-3] the AI SDK generates and edits", async () => {
    const openai = createOpenAI({ baseURL: `${environment.url}/openai/v1`, apiKey: environment.key });
    const made = await generateImage({ model: openai.image("flux-dev"), prompt: PROMPT, size: SIZE, n: 2 });
    expect(made.images).toHaveLength(2);
    expect(await imageOf(made.images[0]!.base64)).toMatchObject({ width: 256, height: 192 });

    const [image, mask] = [await square("#336699"), await square("#ffffff", true)];
    const edited = await generateImage({
      model: openai.image("vendora"),
      prompt: { text: PROMPT, images: [image, image], mask },
    });
    expect(await imageOf(edited.image.base64)).toMatchObject({ width: 64, height: 64 });
    expect((await lastRun()).inputs).toMatchObject({ model_type: "vendora", mask: expect.stringMatching(/^asset:/) });
  });

  it("[OAI-3] the requests of Open WebUI work unchanged", async () => {
    const made = await send("/images/generations", {
      ...{ model: "flux-dev", prompt: PROMPT, n: 1, size: "512x512", response_format: "b64_json" },
    });
    expect([made.status, made.headers.get("gesso-unused-fields")]).toEqual([200, null]);
    expect(await imageOf(made.body.data[0].b64_json)).toMatchObject({ width: 512, height: 512 });

    // All fields are texts, and several images have the name `image[]`.
    const form = new FormData();
    const fields = { model: "vendora", prompt: PROMPT, n: "1", size: "512x512", response_format: "b64_json" };
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    for (const color of ["#336699", "#993366"])
      form.append("image[]", new Blob([await square(color)], { type: "image/png" }), "c0ffee.png");
    const edited = await send("/images/edits", form);
    expect(edited.status).toBe(200);
    expect((await imageOf(edited.body.data[0].b64_json)).format).toBe("png");
  });

  it("[OAI-3] the requests of LibreChat work unchanged", async () => {
    const { data, response } = await client.images
      .generate({
        ...{ model: "vendora", prompt: PROMPT, n: 1, background: "auto", output_format: "webp" },
        ...{ output_compression: 100, quality: "auto", size: "auto" },
      })
      .withResponse();
    expect(response.headers.get("gesso-unused-fields")).toBe("output_compression");
    expect((await imageOf(data.data![0]!.b64_json)).format).toBe("webp");

    const form = new FormData();
    const fields = { model: "vendora", prompt: PROMPT, quality: "auto", size: "auto" };
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append("image[]", new Blob([await square("#336699")], { type: "image/png" }), "image.png");
    const edited = await send("/images/edits", form);
    expect([edited.status, edited.headers.get("gesso-unused-fields")]).toEqual([200, null]);
    expect((await imageOf(edited.body.data[0].b64_json)).format).toBe("png");
  });
});

describe("edits", () => {
  /** The pixels of one half of an image, each as a text. */
  const half = async (bytes: Buffer, left: number) => {
    const part = sharp(bytes).extract({ left, top: 0, width: 32, height: 64 }).removeAlpha().raw();
    return new Set((await part.toBuffer()).toString("hex").match(/.{6}/g));
  };

  it.each([
    ["black", "#000000"],
    // A mask of an unknown kind would mark the white half.
    ["white", "#ffffff"],
  ])("[OAI-4] change the transparent pixels of a %s mask, and no others", async (_, color) => {
    const image = await square("#336699");
    const body = {
      image: await toFile(image, "image.png", { type: "image/png" }),
      mask: await toFile(await square(color, true), "mask.png", { type: "image/png" }),
      ...{ prompt: PROMPT, model: "vendora", seed: 7 },
    };
    const { data } = await client.images.edit(body);
    const edited = Buffer.from(data![0]!.b64_json!, "base64");
    expect(await imageOf(data![0]!.b64_json)).toMatchObject({ width: 64, height: 64 });
    expect(await half(edited, 32)).toEqual(new Set(["336699"]));
    expect((await half(edited, 0)).size).toBeGreaterThan(50);

    // The public API, where white marks the area, makes the same pixels.
    const white = sharp({ create: { width: 32, height: 64, channels: 3, background: "#ffffff" } });
    const mask = await white.extend({ right: 32, background: "#000000" }).png().toBuffer();
    const [image_url, mask_url] = [image, mask].map((bytes) => `data:image/png;base64,${bytes.toString("base64")}`);
    const native = await api().post("/edits/vendora", { prompt: PROMPT, image_url, mask_url, seed: 7 });
    const { image_url: url } = await api().waitUntilEnded(native.body.run_id);
    const golden = Buffer.from(await (await fetch(url)).arrayBuffer());
    expect(await sharp(edited).raw().toBuffer()).toEqual(await sharp(golden).raw().toBuffer());
  });

  it("[OAI-4] put the mask on the first of several images", async () => {
    const [first, second] = [await upload("#336699"), await upload("#993366")];
    const mask = await toFile(await square("#000000", true), "mask.png", { type: "image/png" });
    const { data } = await client.images.edit({ image: [first, second], mask, prompt: PROMPT, model: "vendora" });
    expect(await half(Buffer.from(data![0]!.b64_json!, "base64"), 32)).toEqual(new Set(["336699"]));
  });

  it("[OAI-4] send all of 16 images to the provider, and refuse 17", async () => {
    const images = await Promise.all(Array.from({ length: 17 }, (_, index) => upload(`#3366${10 + index}`)));
    const prompt = "sixteen [sandbox:delay=0]";
    await client.images.edit({ image: images.slice(0, 16), prompt, model: "vendora" });
    const [job] = await jobsWith("sixteen");
    expect(job!.request.images).toHaveLength(16);
    const refused = await client.images.edit({ image: images, prompt }).catch((thrown) => thrown);
    expect(refused).toMatchObject({ status: 400, param: "image" });
  });

  it("[OAI-4] take JSON with data URLs, and refuse a mask without transparent pixels", async () => {
    const url = async (background: string, isMask = false) =>
      `data:image/png;base64,${(await square(background, isMask)).toString("base64")}`;
    const body = { prompt: PROMPT, images: [{ image_url: await url("#336699") }] };
    const edited = await send("/images/edits", { ...body, mask: { image_url: await url("#000000", true) } });
    expect(await half(Buffer.from(edited.body.data[0].b64_json, "base64"), 32)).toEqual(new Set(["336699"]));
    const refused = await send("/images/edits", { ...body, mask: await url("#000000") });
    expect([refused.status, refused.body.error.param]).toEqual([400, "mask"]);
    const form = new FormData();
    for (const name of ["image", "mask"]) form.append(name, new Blob(["no image"]), "image.png");
    form.append("prompt", PROMPT);
    expect((await send("/images/edits", form)).body.error).toMatchObject({
      ...{ code: "unsupported_image_format", param: "mask", type: "invalid_request_error" },
    });
  });
});

describe("sources", () => {
  it("[OAI-4] in private networks and of other tenants are refused", async () => {
    const inside = await send("/images/edits", { prompt: PROMPT, image: "http://169.254.169.254/latest" });
    expect([inside.status, inside.body.error.code]).toEqual([400, "url_not_allowed"]);
    const { run_id } = await lastRun();
    const tenant = await createTestTenant(environment);
    const other = await createHttpCaller({ ...environment, key: tenant.key }).send("POST", "/openai/v1/images/edits", {
      body: { prompt: PROMPT, image: run_id },
    });
    expect([other.status, other.body.error.code]).toEqual([404, "run_not_found"]);
  });
});

describe("a stream", () => {
  it("[OAI-7] ends with one event per image, as openai-node reads them", async () => {
    const body = { prompt: PROMPT, size: SIZE, n: 2, stream: true, partial_images: 2 } as const;
    const { data: stream, response } = await client.images.generate(body).withResponse();
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(response.headers.get("gesso-unused-fields")).toBe("partial_images");
    const events = await collect(stream);
    expect(events.map(({ type }) => type)).toEqual(Array(2).fill("image_generation.completed"));
    for (const { b64_json } of events) expect(await imageOf(b64_json)).toMatchObject({ width: 256, height: 192 });
    const edit = await client.images.edit({ image: await upload("#336699"), prompt: PROMPT, stream: true });
    expect((await collect(edit)).map(({ type }) => type)).toEqual(["image_edit.completed"]);
  });

  it("[OAI-7] ends with a typed error if the run fails", async () => {
    const stream = await client.images.generate({ prompt: "[sandbox:refuse]", stream: true });
    const thrown = await collect(stream).catch((error) => error);
    expect(thrown).toBeInstanceOf(APIError);
    expect(thrown).toMatchObject({ type: "image_generation_user_error", code: "moderation_blocked" });
  });
});

describe("models", () => {
  it("[OAI-8] are those that the key may use", async () => {
    const ids = (await collect(client.models.list())).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(["flux-dev", "vendora", "nanobanana", "edit-default"]));
    expect(ids).not.toContain("wan-image-2.2");
    const tenant = await createTestTenant(environment, { scopes: ["runs:read"] });
    const other = new OpenAI({ baseURL: client.baseURL, apiKey: tenant.key, maxRetries: 0 });
    expect((await other.models.list()).data).toEqual([]);
    expect(await other.models.retrieve("flux-dev").catch((thrown) => thrown)).toBeInstanceOf(NotFoundError);
    expect(await other.images.generate({ prompt: PROMPT }).catch((thrown) => thrown)).toMatchObject({
      ...{ status: 403, code: "insufficient_scope", type: "permission_error" },
    });
  });

  it("[OAI-8] can be named as their provider does, and unknown ones are not found", async () => {
    expect(await client.models.retrieve("replay/flux-dev")).toMatchObject({ id: "replay/flux-dev", object: "model" });
    await client.images.generate({ prompt: PROMPT, model: "replay/flux-dev", size: SIZE });
    expect(await lastRun()).toMatchObject({ model: "flux-dev" });
    for (const ask of [
      () => client.models.retrieve("gpt-image-9"),
      () => client.images.generate({ prompt: PROMPT, model: "gpt-image-9" }),
    ]) {
      const thrown = await ask().catch((error: unknown) => error);
      expect(thrown).toBeInstanceOf(NotFoundError);
      expect(thrown).toMatchObject({ code: "model_not_found", param: expect.stringMatching("model") });
    }
  });
});

describe("errors", () => {
  it("[OAI-9] have OpenAI's shape and the ID of the request", async () => {
    const wrong = new OpenAI({ baseURL: client.baseURL, apiKey: "gsk_wrong", maxRetries: 0 });
    const unknown = await wrong.images.generate({ prompt: PROMPT }).catch((thrown) => thrown);
    expect(unknown).toMatchObject({ status: 401, code: "invalid_api_key", requestID: expect.stringMatching(/^req_/) });
    const missing = await send("/images/generations", {});
    expect([missing.status, missing.body]).toEqual([
      400,
      {
        error: {
          ...{ message: "prompt: This field is required.", type: "invalid_request_error" },
          ...{ code: "required", param: "prompt" },
        },
      },
    ]);
    expect((await send("/images/generations", "{")).body.error).toMatchObject({ code: "invalid_json", param: null });
    expect((await send("/chat/completions", {})).body.error).toMatchObject({ code: "route_not_found" });
  });

  it("[OAI-9] are not retried if the budget is used up", async () => {
    const tenant = await createTestTenant(environment);
    await api().post(`/tenants/${tenant.tenant_id}/credit`, { amount: 0.1 });
    let requests = 0;
    const poor = new OpenAI({
      ...{ baseURL: client.baseURL, apiKey: tenant.key, maxRetries: 3 },
      fetch: (url, init) => {
        requests++;
        return fetch(url, init);
      },
    });
    const thrown = await poor.images.generate({ prompt: PROMPT, model: "nanobanana" }).catch((error) => error);
    expect(thrown).toBeInstanceOf(RateLimitError);
    expect(thrown).toMatchObject({ code: "insufficient_quota", type: "insufficient_quota" });
    expect([thrown.headers.get("x-should-retry"), requests]).toEqual(["false", 1]);
  });

  it("[OAI-9] of a failed run are typed, name the run, and are not retried", async () => {
    const failed = await client.images.generate({ prompt: "failing [sandbox:fail]" }).catch((thrown) => thrown);
    expect(failed).toMatchObject({ status: 502, code: "provider_error", type: "server_error" });
    expect(failed.message).toContain((await lastRun()).run_id);
    expect(await jobsWith("failing")).toHaveLength(1);
    const refused = await client.images.generate({ prompt: "[sandbox:refuse]" }).catch((thrown) => thrown);
    expect(refused).toMatchObject({ status: 400, code: "moderation_blocked" });
  });
});
