// The client against a running Gesso: typical use, and lost connections.
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { readSandboxLedger } from "../../server/test/support/api-caller.ts";
import { type Installation, openSharedInstallation } from "../../server/test/support/shared-installation.ts";
import {
  AbortedError,
  AuthError,
  type Client,
  ConflictError,
  createClient,
  fromPath,
  type GenerateVideoInput,
  NotFoundError,
  RunFailedError,
  TimeoutError,
  ValidationError,
} from "../src/index.ts";
import { startDisconnectingProxy, startProxy } from "./local-server.ts";

/** LOST_RESPONSES=200 makes more. */
const CALLS = Number(process.env.LOST_RESPONSES ?? 40);
const SMALL = { width: 64, height: 64 };
let environment: Installation;
let client: Client;
let png: Buffer;
let folder: string;

beforeAll(async () => {
  [environment, folder] = await Promise.all([openSharedInstallation(), mkdtemp(join(tmpdir(), "gesso-sdk-"))]);
  client = createClient({ baseUrl: environment.url, apiKey: environment.key });
  png = await sharp({ create: { width: 48, height: 32, channels: 3, background: "#c33" } })
    .png()
    .toBuffer();
  writeFileSync(join(folder, "red.png"), png);
});

afterAll(async () => {
  await environment?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

const ended = async (runId: string) => client.runs.get(runId).wait({ timeout: 300_000 });

describe("calls and runs", () => {
  it("returns the documented shape immediately, and the finished run with .wait()", async () => {
    const call = client.images.generate({ prompt: "a red bicycle", ...SMALL });
    const run = await call;
    expect(run).toMatchObject({
      status: expect.stringMatching(/queued|processing/),
      image_url: null,
      data: { run_id: run.run_id },
    });
    expect(Object.keys(run)).not.toContain("_request_id");
    const steps: number[] = [];
    const done = await call.wait({ onProgress: ({ progress }) => steps.push(progress) });
    expect(done).toMatchObject({ run_id: run.run_id, status: "completed" });
    await done.image!.saveTo(join(folder, "bike.png"));
    expect((await sharp(readFileSync(join(folder, "bike.png"))).metadata()).width).toBe(64);
    expect(steps.at(-1)).toBe(1);
    expect(JSON.stringify(done)).not.toContain('"image":');
  });

  it("returns bytes where the API does, and the run with sync: false or .wait()", async () => {
    const { data } = await client.images.upload({ file: png });
    const media = await client.images.removeBackground({ run_id: data.run_id });
    expect((await sharp(await media.bytes()).metadata()).format).toBe("png");
    expect(await ended(media.runId!)).toMatchObject({ parent_run_id: data.run_id });
    // As programs take bytes: Node.js, sharp and a Blob accept the response itself.
    writeFileSync(join(folder, "no-background.png"), media);
    expect((await sharp(join(folder, "no-background.png")).metadata()).format).toBe("png");
    expect(Buffer.from(media).equals(readFileSync(join(folder, "no-background.png")))).toBe(true);
    expect(await new Blob([media]).arrayBuffer()).toEqual(await media.arrayBuffer());
    const open = await client.images.removeBackground({ run_id: data.run_id, sync: false });
    expect(open.run_type).toBe("background-removal");
    const segmented = await client.images.segmentImage.formData({ image: png, prompt: "red" }).wait();
    expect(segmented.status).toBe("completed");
  });

  it("sets isMask for a mask, and exposes the raw response", async () => {
    const { data, response, requestId } = await client.images
      .uploadMask({ file: new Blob([new Uint8Array(png)]) })
      .withResponse();
    expect(response.status).toBe(201);
    expect(requestId).toBe(response.headers.get("x-request-id"));
    expect((await client.runs.get(data.data.run_id)).run_type).toBe("mask-upload");
    expect((await client.edit.getLayers(data.data.run_id).asResponse()).status).toBe(200);
  });

  it("edits with any model by the same call, from a run or a file", async () => {
    const { data } = await client.images.upload({ file: png });
    const run = { run_id: data.run_id };
    for (const model of ["nanobanana", "gemini-2.5", undefined]) {
      const edited = await client.images.edit({ image: run, prompt: "snow", ...(model && { model }) }).wait();
      expect(edited).toMatchObject({ parent_run_id: data.run_id, operation: "images.edit", status: "completed" });
      expect((await sharp(await edited.image.bytes()).metadata()).format).toBe("png");
    }
    const mask = await sharp({ create: { width: 48, height: 32, channels: 3, background: "#fff" } })
      .png()
      .toBuffer();
    const form = { image: png, mask, references: [run], prompt: "snow", model: "vendora", n: 2 };
    expect((await client.images.edit(form).wait()).images).toHaveLength(2);
    const unknown = client.images.edit({ image: run, prompt: "snow", model: "nanobananas" });
    await expect(unknown).rejects.toThrow(/nanobanana/);
  });

  it("makes videos from a text, and from a text and a first frame, by the same call", async () => {
    const { data } = await client.images.upload({ file: png });
    const small = { duration: 1, fps: 2 };
    const clip = await client.videos.generate({ prompt: "waves roll in", ...small }).wait();
    expect(clip).toMatchObject({ parent_run_id: null, run_type: "video-generation", operation: "videos.generate" });
    const framed = { prompt: "it moves", image: { run_id: data.run_id }, ...small };
    const animated = await client.videos.generate(framed).wait();
    expect(animated.parent_run_id).toBe(data.run_id);
    expect((await animated.video.bytes()).length).toBeGreaterThan(100);
  });

  it("edits, combines and removes under the names of the API", async () => {
    const { data } = await client.images.upload({ file: fromPath(join(folder, "red.png")) });
    const edit = await client.images.edit.fluxKontext.json({
      original_run_id: data.run_id,
      prompt: "snow",
      model: "flux-kontext-max",
    });
    expect(edit.parent_run_id).toBe(data.run_id);
    const plain = await client.images.edit.fluxKontext({ original_run_id: data.run_id, prompt: "snow" }).wait();
    expect(plain.status).toBe("completed");
    const form = await client.images.edit.fluxKontext.formData({ original_run_id: data.run_id, prompt: "snow" }).wait();
    expect(form.status).toBe("completed");
    const combined = await client.images
      .combine({ images: [png, { run_id: data.run_id }, data.image_url], gap: 4 })
      .wait();
    expect((await sharp(await combined.image!.bytes()).metadata()).width).toBe(48 * 3 + 8);
    const tree = await client.runs.tree(data.run_id);
    expect(tree.nodes.length).toBeGreaterThan(3);
  });

  it("stores prompts", async () => {
    const made = await client.prompts.create({ name: "harbour", text: "a harbour at dawn" });
    await client.prompts.update(made.id, { text: "a harbour at night" });
    expect((await client.prompts.get(made.id)).text).toBe("a harbour at night");
    expect((await client.prompts.get(made.id, { version: 1 })).text).toBe("a harbour at dawn");
    expect((await client.prompts.list().toArray({ limit: 5 })).map(({ id }) => id)).toContain(made.id);
    await client.prompts.delete(made.id);
    await expect(client.prompts.get(made.id)).rejects.toThrow(NotFoundError);
  });

  it("[SDK-19] returns null for 204, and the run with .wait()", async () => {
    const call = client.images.generate({ prompt: "quiet", ...SMALL }, { minimal: true });
    expect(await call).toBeNull();
    expect(await call.wait()).toMatchObject({ status: "completed" });
  });
});

describe("broken connections", () => {
  it("[SDK-2] creates one run and one job for a call whose response is lost twice", async () => {
    const posts = new Map<string, number>();
    const proxy = await startProxy(environment.url, ({ method, headers }) => {
      const key = String(headers["idempotency-key"]);
      return method === "POST" && posts.set(key, (posts.get(key) ?? 0) + 1).get(key)! < 3;
    });
    const own = createClient({ baseUrl: proxy.url, apiKey: environment.key, maxRetries: 2 });
    const generate = async (prompt: string) => {
      const { data, response } = await own.images.generate({ prompt, ...SMALL, sync: true }).withResponse();
      expect(response.headers.get("idempotent-replayed")).toBe("true");
      expect(data.status).toBe("completed");
      const rows = await environment.query("select run_id from runs where tenant_id = $1 and inputs->>'prompt' = $2", [
        ...[environment.tenantId, prompt],
      ]);
      expect(rows.map(({ run_id }) => run_id)).toEqual([data.run_id]);
      const jobs = (await readSandboxLedger(environment)).filter(({ request }) => request.prompt === prompt);
      expect(jobs).toHaveLength(1);
    };
    await Promise.all(["cut one", "cut two", "cut three"].map(generate));
    await proxy.close();
  });

  it(`[SDK-2] creates ${CALLS} runs and ${CALLS} paid jobs for ${CALLS} calls that each lose their first response`, async () => {
    const lost = new Set<string>();
    const proxy = await startProxy(environment.url, ({ method, headers }) => {
      const key = String(headers["idempotency-key"]);
      if (method !== "POST" || lost.has(key)) return false;
      // Half of the connections are cut before the first byte, half in the middle of the response.
      return lost.add(key).size % 2 === 0 ? "within" : true;
    });
    const own = createClient({ baseUrl: proxy.url, apiKey: environment.key });
    const prompts = Array.from({ length: CALLS }, (_, index) => `lost response ${index}`);
    const found: string[] = [];
    const worker = async () => {
      for (let prompt = prompts.shift(); prompt; prompt = prompts.shift()) {
        found.push((await own.images.generate({ prompt, ...SMALL })).run_id);
      }
    };
    await Promise.all(Array.from({ length: 20 }, worker));
    await proxy.close();
    const rows = await environment.query<{ count: string }>(
      "select count(*) from runs where tenant_id = $1 and inputs->>'prompt' like 'lost response %'",
      [environment.tenantId],
    );
    expect(lost.size).toBe(CALLS);
    expect(Number(rows[0]!.count)).toBe(CALLS);
    expect(new Set(found).size).toBe(CALLS);
    for (const runId of found) await ended(runId);
    const paid = (await readSandboxLedger(environment)).filter(({ request }) =>
      /^lost response /.test(String(request.prompt)),
    );
    expect(paid).toHaveLength(CALLS);
    expect(new Set(paid.map(({ request }) => request.prompt)).size).toBe(CALLS);
  });
});

describe("waiting", () => {
  it("[SDK-6] stops immediately when aborted, and cancels the run unless cancelOnAbort is false", async () => {
    const stop = new AbortController();
    // The run has no end of its own, so only the signal can end the wait.
    const call = client.images.generate({ prompt: "slow [sandbox:never]", ...SMALL });
    const { run_id } = await call;
    const waiting = call.wait({ signal: stop.signal });
    await expect.poll(async () => (await client.runs.get(run_id)).status).toBe("processing");
    stop.abort();
    const error = await waiting.catch((thrown) => thrown);
    expect(AbortedError.isInstance(error) && error.runId).toBe(run_id);
    await expect.poll(async () => (await client.runs.get(run_id)).status).toBe("canceled");

    const other = client.images.generate({ prompt: "slow [sandbox:delay=2]", ...SMALL });
    const stored = other.wait({ signal: AbortSignal.timeout(500), cancelOnAbort: false });
    await expect(stored).rejects.toThrow(AbortedError);
    expect(await other.wait()).toMatchObject({ status: "completed" });
  });

  it("[SDK-7] polls where a proxy buffers events and ignores Prefer: wait, and warns once", async () => {
    const input: string[] = [];
    const proxy = await startProxy(
      environment.url,
      ({ url = "" }) => void input.push(url) as unknown as false,
      (headers) => void delete headers.prefer,
    );
    const warnings: string[] = [];
    const logger = { ...console, warn: (line: string) => warnings.push(line) };
    const own = createClient({ baseUrl: proxy.url, apiKey: environment.key, logger });
    const done = await own.images.generate({ prompt: "asked [sandbox:delay=7]", ...SMALL }).wait();
    await proxy.close();
    expect(done.status).toBe("completed");
    expect(warnings).toHaveLength(1);
    expect(input.filter((url) => url.endsWith(done.run_id)).length).toBeGreaterThan(1);
  });

  it("[SDK-7] resumes a stream of events that is cut, and yields each event once", async () => {
    const cutter = await startDisconnectingProxy(environment.url, 200);
    const own = createClient({ baseUrl: cutter.url, apiKey: environment.key });
    const { run_id } = await client.images.generate({ prompt: "a boat [sandbox:delay=4]", ...SMALL });
    const read = async (from: Client, after?: string) => {
      const events = [];
      for await (const event of from.runs.events(run_id, after ? { after } : {})) events.push(event);
      return events;
    };
    const received = await read(own);
    expect(cutter.cuts()).toBeGreaterThan(2);
    const whole = await read(client);
    expect(received).toEqual(whole);
    expect(received.map(({ type }) => type)).toEqual([
      ...["run.queued", "run.processing", ...Array(received.length - 3).fill("run.progress"), "run.completed"],
    ]);
    expect(await read(client, whole[1]!.id)).toEqual(whole.slice(2));
    expect(await read(client, whole.at(-1)!.id)).toEqual([]);
    await cutter.close();
  });

  it("yields events of all runs until the caller leaves the loop, and 404 for an unknown run", async () => {
    const stop = new AbortController();
    const seen: string[] = [];
    const listening = (async () => {
      for await (const event of client.events.stream({ types: ["run.completed"] }, { signal: stop.signal })) {
        if (event.type === "run.completed") seen.push(event.data.run_id);
        if (seen.length === 2) stop.abort();
      }
    })();
    const left = expect(listening).rejects.toThrow(AbortedError);
    const runs = [1, 2].map(() => client.images.generate({ prompt: "seen [sandbox:delay=1]", ...SMALL }).wait());
    const ids = (await Promise.all(runs)).map(({ run_id }) => run_id);
    await left;
    expect(seen).toEqual(expect.arrayContaining(ids));
    const nothing = client.runs.events("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")[Symbol.asyncIterator]();
    await expect(nothing.next()).rejects.toThrow(NotFoundError);
  });

  it("yields the events of a run that fails, and times out on one that takes too long", async () => {
    const failing = client.images.generate({ prompt: "no [sandbox:fail]", ...SMALL }).wait();
    const error = await failing.catch((thrown) => thrown);
    expect(RunFailedError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ code: "provider_error", run: { status: "failed" } });
    const late = client.images.generate({ prompt: "late [sandbox:never]", ...SMALL }).wait({ timeout: 700 });
    const timedOut: TimeoutError = await late.catch((thrown) => thrown);
    expect(timedOut).toBeInstanceOf(TimeoutError);
    await client.runs.cancel(timedOut.runId!);
  });
});

describe("errors", () => {
  it("[SDK-9] has a class for each family, with code, request and, across copies, isInstance", async () => {
    const lax = createClient({ baseUrl: environment.url, apiKey: environment.key, validate: false });
    const unauthenticated = createClient({ baseUrl: environment.url, apiKey: "gsk_unknown" });
    const { run_id } = await client.images.generate({ prompt: "done", ...SMALL }).wait();
    const key = { idempotencyKey: `twice-${run_id}` };
    await client.images.generate({ prompt: "first", ...SMALL }, key);
    const cases: [Promise<unknown>, typeof AuthError][] = [
      [unauthenticated.runs.list(), AuthError],
      [client.runs.get("01990c3e-2f00-7000-8000-6f0c1a2b3c4d"), NotFoundError],
      [lax.images.generate({ prompt: "wide", width: 9 }), ValidationError],
      [lax.images.upload({ file: Buffer.from("no image") }), ValidationError],
      [client.runs.cancel(run_id), ConflictError],
      [client.images.generate({ prompt: "second", ...SMALL }, key), ConflictError],
    ];
    for (const [call, family] of cases) {
      const error = (await call.catch((thrown) => thrown)) as AuthError;
      expect(error).toBeInstanceOf(family);
      expect(family.isInstance(error)).toBe(true);
      expect(error.requestId).toBeTruthy();
      expect(error.message).toContain(`code: ${error.code}`);
      const page = await fetch(error.docUrl!);
      expect(page.status).toBe(200);
      expect(await page.text()).toContain(`<h1>${error.code}</h1>`);
    }
    vi.resetModules();
    const copy = await import("../src/errors.ts");
    const foreign = new copy.AuthError("elsewhere");
    expect(foreign instanceof AuthError).toBe(false);
    expect(AuthError.isInstance(foreign)).toBe(true);
    expect(NotFoundError.isInstance(foreign)).toBe(false);
  });

  it("gives the finished run the operation's own result", async () => {
    const shapes = Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="128" height="96"><rect width="128" height="96" fill="#e9e2d3"/><circle cx="40" cy="48" r="24" fill="#d8382c"/></svg>',
    );
    const { data } = await client.images.upload({ file: await sharp(shapes).png().toBuffer() });
    const extracted = await client.images.extract({ run_id: data.run_id, prompt: "the red circle" }).wait();
    expect(extracted.objects).toHaveLength(1);
    expect(extracted.objects[0]?.image_url).toBe(extracted.image?.url);
    const described = await client.images.describe({ run_id: data.run_id }).wait();
    expect(described.description.length).toBeGreaterThan(20);
    expect([described.width, described.height]).toEqual([128, 96]);
    const enhanced = await client.prompts.enhance({ prompt: "a fox" }).wait();
    expect(enhanced.enhanced_prompt).toContain("fox");
    expect(JSON.parse(JSON.stringify(described))).not.toHaveProperty("description");
  });

  it("[SDK-10] rejects invalid input before sending, with the messages of the server", async () => {
    const lax = createClient({ baseUrl: environment.url, apiKey: environment.key, validate: false });
    const wan = {
      prompt: "two loras",
      model_type: "wan-image-2.2",
      model_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d",
      ...SMALL,
    } as const;
    for (const own of [client, lax]) {
      // @ts-expect-error: the names of the LoRAs are required
      const error: ValidationError = await own.images.generate(wan).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(ValidationError);
      expect(error.forField("lora_low_name")[0]?.message).toMatch(/required when model_type is wan-image-2.2/);
      for (const input of [{}, { image_url: environment.url, source_run_id: wan.model_id }]) {
        const video: ValidationError = await own.generateVideo(input as GenerateVideoInput).catch((thrown) => thrown);
        expect(video.forField("image_url")[0]).toMatchObject({
          code: "exactly_one_of",
          message: "Send exactly one of image_url, source_run_id.",
        });
      }
    }
    const wide: ValidationError = await client.images.generate({ prompt: "x", width: 4000 }).catch((thrown) => thrown);
    expect(wide.message).toContain("width: Must be at most 2048.");
  });
});

describe("lists", () => {
  it("[SDK-11] iterates over 250 runs in three requests, while new runs are created", async () => {
    const tiny = await sharp({ create: { width: 16, height: 16, channels: 3, background: "#fff" } })
      .png()
      .toBuffer();
    const { data } = await client.images.upload({ file: tiny });
    const parent_id = data.run_id;
    const upload = () => client.images.uploadMask({ file: tiny, parent_id });
    for (let done = 0; done < 250; done += 25) await Promise.all(Array.from({ length: 25 }, upload));
    let requests = 0;
    const counting: typeof fetch = (input, init) => {
      requests += 1;
      return fetch(input, init);
    };
    const own = createClient({ baseUrl: environment.url, apiKey: environment.key, fetch: counting });
    const ids: string[] = [];
    for await (const run of own.runs.list({ parent_run_id: parent_id, limit: 100 })) {
      if (ids.length % 60 === 0) await upload();
      ids.push(run.run_id);
    }
    expect([requests, ids.length, new Set(ids).size]).toEqual([3, 250, 250]);
  });
});
