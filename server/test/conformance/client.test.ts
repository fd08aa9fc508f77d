// What the client alone can show: how it is made, under which names it has the operations, what they resolve to, and
// what it raises.
import { createReadStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AuthError,
  Client,
  type ClientOptions,
  ConnectionError,
  createClient,
  type FileSource,
  GessoError,
  type Media,
  NotFoundError,
  ValidationError,
} from "@gesso/client";
import { freePort } from "@gesso/dev/components";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { drawScene } from "../support/scene.ts";
import {
  expectGeneration,
  expectRun,
  listSandboxRequests,
  REFUSED_PROMPT,
  rightHalfMask,
  toDataUrl,
} from "./response-checks.ts";
import { UNKNOWN_ID } from "./run-requests.ts";
import { useSuite } from "./suite.ts";

const suite = useSuite();
const SMALL = { width: 64, height: 64 };
const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

let client: Client;
let sourceImage: Buffer;
let source: string;
let folder: string;

beforeAll(async () => {
  client = createClient({ baseUrl: suite.environment.url, apiKey: suite.environment.key });
  [sourceImage, folder] = await Promise.all([drawScene(), mkdtemp(join(tmpdir(), "gesso-client-"))]);
  await writeFile(join(folder, "scene.png"), sourceImage);
  source = (await client.images.upload({ file: sourceImage })).data.run_id;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Sent = { origin: string; path: string; credential: string | null; body: unknown };

/** A client of other options, and every request that it sends to the real server. */
function watched(options: ClientOptions): { own: Client; sent: Sent[] } {
  const sent: Sent[] = [];
  const watching: typeof fetch = (input, init) => {
    const { origin, pathname: path } = new URL(String(input));
    sent.push({ origin, path, credential: new Headers(init?.headers).get("authorization"), body: init?.body });
    return fetch(input, init);
  };
  return { own: createClient({ baseUrl: suite.environment.url, fetch: watching, ...options }), sent };
}

const thrownBy = (call: Promise<unknown>): Promise<GessoError> =>
  call.then(
    () => expect.fail("nothing was raised"),
    (error) => error,
  );
const typesOf = (group: object, ...names: string[]) =>
  names.map((name) => typeof (group as Record<string, unknown>)[name]);
const functions = (count: number) => Array(count).fill("function");
const endOf = (runId: string) => client.runs.get(runId).wait({ timeout: 30_000 });

describe("a client", () => {
  it("[AUT-016] is made from an address and a key, and all its requests go there with it", async () => {
    const { own, sent } = watched({ apiKey: suite.environment.key });
    await own.images.generate({ prompt: "[sandbox:delay=0] x", ...SMALL, reference_image_url: sourceImage }).wait();
    await own.images.describe({ image_url: { run_id: source } });
    await own.prompts.list().toArray({ limit: 1 });
    const paths = ["/api/v1/upload", "/api/v1/runs/generate", "/api/v1/images/describe", "/api/v1/prompts"];
    expect(sent.map(({ path }) => path)).toEqual(expect.arrayContaining(paths));
    for (const { origin, credential } of sent) {
      expect([origin, credential]).toEqual([suite.environment.url, `Bearer ${suite.environment.key}`]);
    }
  });

  it("[AUT-017] calls getToken and sends the token it resolves to", async () => {
    const { own, sent } = watched({ getToken: async () => suite.environment.key });
    expect((await own.runs.list({ limit: 1 })).data).toHaveLength(1);
    expect(sent.map(({ credential }) => credential)).toEqual([`Bearer ${suite.environment.key}`]);
  });

  it("[AUT-018] sends no credential where getToken resolves to null", async () => {
    const { own, sent } = watched({ getToken: async () => null });
    expect(await thrownBy(own.runs.list())).toMatchObject({ status: 401, code: "authentication_required" });
    expect(sent.length).toBeGreaterThan(0);
    for (const { credential } of sent) expect(credential).toBeNull();
  });

  it("[AUT-019] may be made of an address alone, and is then refused by the service", async () => {
    const { own, sent } = watched({});
    const error = await thrownBy(own.runs.list());
    expect(AuthError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ status: 401, code: "authentication_required" });
    expect(sent).toHaveLength(1);
  });

  it("[AUT-020] returns the same result with debug, without it, and by default", async () => {
    const silent = () => {};
    const logger = { error: silent, warn: silent, info: silent, debug: silent };
    const responses = [{}, { debug: true }, { debug: false }].map(async (options) => {
      const own = new Client({ baseUrl: suite.environment.url, apiKey: suite.environment.key, logger, ...options });
      return [await own.runs.get(source), await own.edit.getLayers(source), await own.prompts.list()];
    });
    const [first, second, third] = await Promise.all(responses);
    expect(first![0]).toMatchObject({ run_id: source });
    expect(second).toEqual(first);
    expect(third).toEqual(first);
  });

  it("[AUT-022] is not made of a key and getToken at once", () => {
    const both = { baseUrl: suite.environment.url, apiKey: suite.environment.key, getToken: async () => "token" };
    expect(() => createClient(both)).toThrow(/apiKey or getToken/);
    expect(() => new Client(both)).toThrow(GessoError);
  });
});

describe("what it raises", () => {
  it("[ERR-020] for a rejected request has the code, details and message of the response", async () => {
    const body = { prompt: "x", width: 9, no_such_field: 1 };
    const { body: reported } = await suite.caller.generate(body);
    const { own } = watched({ apiKey: suite.environment.key, validate: false });
    const error = await thrownBy(own.images.generate(body as never));
    expect(ValidationError.isInstance(error)).toBe(true);
    expect([error.status, error.code]).toEqual([400, reported.code]);
    expect(error.details).toEqual({ ...reported.details, request_id: error.requestId });
    expect(error.message).toContain(reported.message);
    const local = await thrownBy(client.images.generate({ prompt: "x", width: 9 }));
    const { path, code } = reported.details.errors.find((each: { path: string }) => each.path === "/width");
    expect(local).toMatchObject({ code: reported.code, details: { errors: [{ path, code }] } });
  });

  it("[ERR-021] for an unreachable server has another class than an error of the service", async () => {
    const unknown = createClient({ baseUrl: `http://127.0.0.1:${await freePort()}`, apiKey: "x", maxRetries: 0 });
    const [lost, reported] = [await thrownBy(unknown.runs.list()), await thrownBy(client.runs.get(UNKNOWN_ID))];
    expect([ConnectionError.isInstance(lost), ConnectionError.isInstance(reported)]).toEqual([true, false]);
    expect([lost.status, lost.code]).toEqual([undefined, undefined]);
  });

  it("[ERR-022] for an error of the service has its status", async () => {
    const own = createClient({ baseUrl: suite.environment.url, apiKey: suite.environment.key, maxRetries: 0 });
    const missing = await thrownBy(own.runs.get(UNKNOWN_ID));
    expect(NotFoundError.isInstance(missing)).toBe(true);
    expect([missing.status, missing.code]).toEqual([404, "run_not_found"]);
    expect(await thrownBy(own.runs.cancel(source))).toMatchObject({ status: 409, code: "run_not_cancelable" });
    const unbound = await thrownBy(own.images.generate({ prompt: "x", model_type: "vendorc" }));
    expect(unbound).toMatchObject({ status: 503, code: "model_unavailable" });
  });
});

describe("names", () => {
  it("[VER-002] [DSC-009] of the old flat operations are gone", () => {
    expect(typesOf(client, "uploadImage", "generateImageRun", "describe", "enhancePrompt")).toEqual(
      Array(4).fill("undefined"),
    );
    expect(typeof client.images.describe).toBe("function");
  });

  it("[VER-004] of their replacements are there", () => {
    expect(typesOf(client.images, "upload", "generate", "describe")).toEqual(functions(3));
    expect(typeof client.prompts.enhance).toBe("function");
  });

  it("[PRM-012] of the prompt library are in one group", () => {
    expect(typesOf(client.prompts, "enhance", "create", "list", "get", "update", "delete")).toEqual(functions(6));
  });

  it("[CMB-022] combine is a function that has two more", async () => {
    expect(typeof client.images.combine).toBe("function");
    expectGeneration(await client.images.combine({ images: [source, source] }));
    for (const model of ["nanobanana", "gemini25"] as const) {
      expect(typesOf(client.images.combine[model], "json", "formData")).toEqual(functions(2));
      const input = { prompt: REFUSED_PROMPT, run_ids: [source, source] };
      expectGeneration(await client.images.combine[model].json(input));
      expectGeneration(await client.images.combine[model].formData(input));
    }
  });

  it("[GRM-008] generative remove has two that send the same", async () => {
    const { own, sent } = watched({ apiKey: suite.environment.key });
    const input = { prompt: REFUSED_PROMPT, run_id: source };
    const runs = [await own.images.genRemove(input), await own.images.generativeRemove(input)];
    expect(sent).toHaveLength(2);
    expect(sent[1]).toEqual(sent[0]);
    expect(runs.map((run) => run.run_type)).toEqual(["generative-remove", "generative-remove"]);
    expect(runs[1]!.inputs).toEqual(runs[0]!.inputs);
  });

  it("[RUN-040] has all run operations and their events", async () => {
    const names = ["get", "list", "cancel", "delete", "tree", "events", "estimate"];
    expect(typesOf(client.runs, ...names)).toEqual(functions(names.length));
    const { run_id } = await client.images.generate({ prompt: "[sandbox:delay=1] x", ...SMALL });
    const received: string[] = [];
    for await (const { type } of client.runs.events(run_id)) received.push(type);
    expect(received.filter((type) => type !== "run.progress")).toEqual([
      "run.queued",
      "run.processing",
      "run.completed",
    ]);
  });
});

describe("two kinds of bodies", () => {
  it("[EDT-022] of an edit start runs of the same type", async () => {
    const { vendora, nanobanana, gemini25 } = client.images.edit;
    const input = { prompt: REFUSED_PROMPT, run_id: source };
    for (const edit of [vendora, nanobanana, gemini25]) {
      const [json, form] = [await edit.json(input), await edit.formData(input)];
      expect([json.run_type, form.run_type]).toEqual(["image-edit", "image-edit"]);
    }
  });

  it("[FLX-018] of flux-kontext resolve to a run", async () => {
    const input = { original_run_id: source, prompt: REFUSED_PROMPT, model: "flux-kontext-max" } as const;
    expectRun(await client.images.edit.fluxKontext.json(input));
    expectRun(await client.images.edit.fluxKontext.formData(input));
  });

  it("[REF-013] of reference resolve to its response", async () => {
    const input = { prompt: REFUSED_PROMPT, images: [{ image_reference: source, tag: "hero" }] };
    for (const call of [client.images.reference.json(input), client.images.reference.formData(input)]) {
      const { success, message, data } = await call;
      expect([success, message]).toEqual([true, expect.stringMatching(/\S/)]);
      expect(await client.runs.get(data!.run_id)).toMatchObject({ run_type: "reference-generation" });
    }
  });

  it("[RFM-011] of reframe resolve to a run", async () => {
    const input = { prompt: REFUSED_PROMPT, run_id: source, aspect_ratio: "1:1" };
    for (const call of [client.images.reframe.json(input), client.images.reframe.formData(input)]) {
      expect((await call).run_id).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it("[CHR-020] of character exist, and the form accepts a Blob, a File and a Buffer as the reference", async () => {
    const input = { prompt: REFUSED_PROMPT, character_reference_run_id: source };
    expect((await client.images.character.json(input)).data!.run_id).toMatch(/^[0-9a-f-]{36}$/);
    const bytes = new Uint8Array(sourceImage);
    for (const file of [new Blob([bytes]), new File([bytes], "hero.png"), sourceImage]) {
      const input = { prompt: REFUSED_PROMPT, character_reference_file: file };
      const { run_id } = (await client.images.character.formData(input)).data!;
      await thrownBy(endOf(run_id));
      const [request] = await listSandboxRequests(suite, run_id);
      expect(JSON.stringify(request)).toContain('"file"');
    }
  });
});

describe("images", () => {
  it("[UPL-017] are uploaded from a File, a Blob, a Buffer and a stream", async () => {
    const bytes = new Uint8Array(sourceImage);
    const files: FileSource[] = [
      ...[new File([bytes], "a.png"), new Blob([bytes]), sourceImage],
      ...[createReadStream(join(folder, "scene.png")), new Blob([bytes]).stream()],
    ];
    for (const file of files) {
      const { success, data } = await client.images.upload({ file });
      expect(success).toBe(true);
      const run = await endOf(data.run_id);
      expect(run).toMatchObject({ run_type: "upload", outputs: [{ width: 128, height: 96 }] });
    }
  });

  it("[UPL-018] are masks with uploadMask, which accepts the same", async () => {
    const { data } = await client.images.uploadMask({ file: sourceImage, description: "a mask", parent_id: source });
    const run = await client.runs.get(data.run_id);
    expect(run).toMatchObject({ run_type: "mask-upload", parent_run_id: source });
    expect(run.inputs).toMatchObject({ isMask: true, description: "a mask" });
  });

  const expectImage = async (media: Media) => {
    expect(media).not.toHaveProperty("run_id");
    expect(await sharp(await media.bytes()).metadata()).toMatchObject({ width: 128, height: 96 });
  };

  it("[SEG-011] come out of segmentImage as bytes", async () => {
    const { segmentImage } = client.images;
    await expectImage(await segmentImage.json({ prompt: "the red circle", run_id: source }));
    await expectImage(await segmentImage.formData({ prompt: "the red circle", image: sourceImage }));
  });

  it("[RBG-008] come out of removeBackground as bytes", async () => {
    await expectImage(await client.images.removeBackground.json({ run_id: source }));
    await expectImage(await client.images.removeBackground.formData({ image: sourceImage }));
  });

  it("[BGR-009] come out of backgroundRemove as an address", async () => {
    expect(typesOf(client.images.backgroundRemove, "json", "formData")).toEqual(["undefined", "undefined"]);
    const response = await client.images.backgroundRemove({ run_id: source });
    expect(response).toEqual({ url: expect.stringMatching(/^http/), runId: expect.any(String), parentRunId: source });
    const { parentRunId } = await client.images.backgroundRemove({ image_url: suite.imageUrl() });
    expect(parentRunId).toBeUndefined();
  });

  it("[MSK-012] come out of maskImage as a PNG", async () => {
    const mask_image_url = await rightHalfMask();
    const media = await client.edit.maskImage({ original_image_url: { run_id: source }, mask_image_url });
    expect([...(await media.bytes()).subarray(0, 8)]).toEqual(PNG);
  });

  it("[MSK-010] are masked at another address where one is given, and everything else stays where it was", async () => {
    const elsewhere = suite.environment.url.replace("127.0.0.1", "localhost");
    const { own, sent } = watched({ apiKey: suite.environment.key, edit_server_url: elsewhere });
    const input = { original_image_url: source, mask_image_url: toDataUrl(await rightHalfMask()) };
    await own.edit.maskImage(input);
    await own.edit.getLayers(source);
    await own.images.removeBackground({ run_id: source });
    await client.edit.maskImage(input, { edit_server_url: elsewhere });
    expect(sent.map(({ origin }) => origin)).toEqual([elsewhere, suite.environment.url, suite.environment.url]);
  });
});

describe("responses", () => {
  it("[GEN-025] of 204 are null", async () => {
    const call = client.images.generate({ prompt: REFUSED_PROMPT, ...SMALL }, { minimal: true });
    expect((await call.asResponse()).status).toBe(204);
    expect(await call).toBeNull();
  });

  it("[LAY-008] of getLayers have layers", async () => {
    const { data } = await client.edit.getLayers(source);
    expect(Array.isArray(data.layers)).toBe(true);
    expect(data.layers.length).toBeGreaterThan(0);
  });

  it("[VID-015] of generateVideo have a run and its state", async () => {
    expect(typeof client.generateVideo).toBe("function");
    const { run_id, status } = await client.generateVideo({ source_run_id: source, prompt: REFUSED_PROMPT });
    expect([run_id, status]).toEqual([
      expect.stringMatching(/^[0-9a-f-]{36}$/),
      expect.stringMatching(/queued|processing/),
    ]);
  });

  it("[PRM-008] of prompts.get have the values that prompts.update set", async () => {
    const { id } = await client.prompts.create({ name: "Harbour", text: "a harbour at dusk" });
    await client.prompts.update(id, { text: "a harbour at dawn", tags: ["dawn"] });
    expect(await client.prompts.get(id)).toMatchObject({ name: "Harbour", text: "a harbour at dawn", tags: ["dawn"] });
  });
});
