// Twelve snippets of daily work with the client, in one environment. Each is checked twice: its types by the compiler,
// with misuses that the compiler must refuse, and its behaviour against a running Gesso.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import { startTestEnvironment, type TestEnvironment } from "../../server/test/support/test-environment.ts";
import { startWebhookReceiver, webhookEnv } from "../../server/test/webhooks/receiver.ts";
import {
  BudgetError,
  type Client,
  createClient,
  type Estimate,
  type FieldError,
  fromPath,
  type Media,
  NotFoundError,
  type Run,
  RunCanceledError,
  type RunEvent,
  RunFailedError,
  type StreamedEvent,
  type Upload,
  type UploadProgress,
  ValidationError,
} from "../src/index.ts";
import { unwrap, type WebhookEvent } from "../src/webhooks.ts";
import { startProxy } from "./local-server.ts";

const SMALL = { width: 64, height: 64 };
const folder = mkdtempSync(join(tmpdir(), "gesso-daily-work-"));
const receiver = await startWebhookReceiver();
let environment: TestEnvironment;
let client: Client;

beforeAll(async () => {
  const GESSO_CONFIG = join(folder, "gesso.yaml");
  writeFileSync(GESSO_CONFIG, "models:\n  flux-dev: [{ provider: sandbox, price: 0.03 }]\n");
  const draw = (background: string) => sharp({ create: { ...SMALL, channels: 3, background } }).png();
  await draw("#cc3333").toFile(join(folder, "red.png"));
  // White marks what changes: the right half.
  const white = { create: { width: 32, height: 64, channels: 3, background: "#ffffff" } } as const;
  await draw("#000000")
    .composite([{ input: white, left: 32, top: 0 }])
    .toFile(join(folder, "mask.png"));
  environment = await startTestEnvironment({ env: { GESSO_CONFIG, ...webhookEnv(receiver) } });
  client = createClient({ baseUrl: environment.url, apiKey: environment.key });
});
afterAll(async () => {
  await environment?.stop();
  await receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

const red = () => fromPath(join(folder, "red.png"));
const pixelsOf = async (image: Media) =>
  sharp(await image.bytes())
    .removeAlpha()
    .raw()
    .toBuffer();
const thrownBy = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.fail("nothing was thrown"),
    (error: unknown) => error,
  );

describe("daily work", () => {
  it("1. generate: an image from a prompt", async () => {
    const run = await client.images.generate({ prompt: "a red bicycle", ...SMALL, seed: 7 }).wait();
    expectTypeOf(run.image).toEqualTypeOf<Media>();
    expectTypeOf(run.image_url).toEqualTypeOf<string | null>();
    // @ts-expect-error: a prompt is required
    void (() => client.images.generate({ ...SMALL }));
    // @ts-expect-error: the field is called height
    void (() => client.images.generate({ prompt: "x", hight: 64 }));
    // @ts-expect-error: a run has no `url`
    void (() => run.url);
    expect((await sharp(await run.image.bytes()).metadata()).width).toBe(64);
  });

  it("2. edit with a mask: only what is white in the mask changes", async () => {
    const image_url = red();
    const mask_url = fromPath(join(folder, "mask.png"));
    const run = await client.images.edit.vendora({ prompt: "turn it blue", image_url, mask_url, n: 1 }).wait();
    expectTypeOf(run.images).toEqualTypeOf<Media[]>();
    // @ts-expect-error: nanobanana takes no mask
    void (() => client.images.edit.nanobanana({ prompt: "x", image_url, mask_url }));
    // @ts-expect-error: n is a number
    void (() => client.images.edit.vendora({ prompt: "x", image_url, n: "1" }));
    const [before, after] = [await sharp(join(folder, "red.png")).raw().toBuffer(), await pixelsOf(run.image)];
    const changed = { left: 0, right: 0 };
    for (let at = 0; at < before.length; at++) {
      if (before[at] !== after[at]) changed[Math.floor(at / 3) % 64 < 32 ? "left" : "right"]++;
    }
    expect(changed.left).toBe(0);
    expect(changed.right).toBeGreaterThan(1000);
  });

  it("3. upload: a file of one's own, with its progress", async () => {
    const seen: number[] = [];
    const onUpload = ({ sentBytes, totalBytes }: UploadProgress) => seen.push(sentBytes / (totalBytes ?? sentBytes));
    const upload = await client.images.upload({ file: red(), description: "a red square" }, { onUpload });
    expectTypeOf(upload).toEqualTypeOf<Upload>();
    expectTypeOf(upload.data.run_id).toEqualTypeOf<string>();
    // @ts-expect-error: a number is no file
    void (() => client.images.upload({ file: 5 }));
    // @ts-expect-error: an upload is stored at once, so there is nothing to wait for
    void (() => client.images.upload({ file: red() }).wait());
    expect(seen.at(-1)).toBe(1);
    expect((await client.runs.get(upload.data.run_id)).run_type).toBe("upload");
  });

  it("4. wait with progress: from the first state to the last", async () => {
    const steps: [Run["status"], number][] = [];
    const run = await client.images
      .generate({ prompt: "a slow boat [sandbox:delay=1]", ...SMALL })
      .wait({ onProgress: ({ status, progress }) => steps.push([status, progress]), timeout: 30_000 });
    // @ts-expect-error: the timeout is in milliseconds, not text
    void (() => client.runs.get(run.run_id).wait({ timeout: "30s" }));
    void (() =>
      client.runs.get(run.run_id).wait({
        // @ts-expect-error: a run has no `percent`
        onProgress: ({ percent }) => percent,
      }));
    expect(steps.at(-1)).toEqual(["completed", 1]);
    expect(steps.length).toBeGreaterThan(1);
  });

  it("5. stream: the events of a run until it ends", async () => {
    const { run_id } = await client.images.generate({ prompt: "a red fox", ...SMALL });
    const types: string[] = [];
    for await (const event of client.runs.events(run_id)) {
      expectTypeOf(event).toEqualTypeOf<StreamedEvent<RunEvent>>();
      // @ts-expect-error: the stream of a run has no messages about credits
      void (event.type === "credits.low");
      types.push(event.type);
    }
    expect([types[0], types.at(-1)]).toEqual(["run.queued", "run.completed"]);
  });

  it("6. webhook: a signed message when the run ends", async () => {
    const [webhook_url, webhook_secret] = [`${receiver.url}/hook`, "a secret of more than sixteen bytes"];
    const input = { prompt: "a postcard", ...SMALL, webhook_url, webhook_secret };
    const { run_id } = await client.images.generate(input);
    const [message] = await receiver.got(1, (each) => each.event.data.run_id === run_id);
    const event = await unwrap(message!.bytes, message!.headers, webhook_secret);
    expectTypeOf(event).toEqualTypeOf<WebhookEvent>();
    // @ts-expect-error: the data of a message depends on its type
    void event.data.image_url;
    // @ts-expect-error: a secret is required
    void (() => unwrap(message!.bytes, message!.headers));
    if (event.type !== "run.completed") return expect.fail(event.type);
    expectTypeOf(event.data.image_url).toEqualTypeOf<string | null>();
    expect([event.data.run_id, event.data.status]).toEqual([run_id, "completed"]);
    await expect(unwrap(message!.bytes, message!.headers, "another secret of some length")).rejects.toMatchObject({
      reason: "bad_signature",
    });
  });

  it("7. cancel: a run that is not needed any more", async () => {
    const call = client.images.generate({ prompt: "never [sandbox:never]", ...SMALL });
    const { run_id } = await call;
    const canceled = await client.runs.cancel(run_id);
    expectTypeOf(canceled).toEqualTypeOf<Run>();
    // @ts-expect-error: the ID is text, not a run
    void (() => client.runs.cancel(canceled));
    const error = await thrownBy(call.wait());
    if (!RunCanceledError.isInstance(error)) throw error;
    expect(error.runId).toBe(run_id);
  });

  it("8. list: every run of a kind, page by page", async () => {
    const { data } = await client.images.upload({ file: red() });
    for (let count = 0; count < 3; count++) await client.images.upload({ file: red(), parent_id: data.run_id });
    const ids: string[] = [];
    for await (const run of client.runs.list({ parent_run_id: data.run_id, limit: 2 })) {
      expectTypeOf(run.run_id).toEqualTypeOf<string>();
      ids.push(run.run_id);
    }
    const newest = await client.runs.list({ run_type: "upload" }).toArray({ limit: 2 });
    expectTypeOf(newest[0]!.outputs).toEqualTypeOf<Run["outputs"]>();
    // @ts-expect-error: there is no such status
    void (() => client.runs.list({ status: "done" }));
    // @ts-expect-error: all pages need a limit
    void (() => client.runs.list().toArray());
    expect(new Set(ids).size).toBe(3);
    expect(newest.map(({ run_id }) => run_id)).toEqual(ids.slice(0, 2));
  });

  it("9. budget: the price before, a limit on it, and the usage after", async () => {
    const input = { prompt: "a coin", ...SMALL, batch_size: 2 };
    const estimate = await client.runs.estimate({ operation: "images.generate", input });
    expectTypeOf(estimate).toEqualTypeOf<Estimate>();
    expectTypeOf(estimate.amount).toEqualTypeOf<number | null>();
    // @ts-expect-error: an unknown price is null, so the amount may be missing
    void (() => estimate.amount * 2);
    // @ts-expect-error: max_cost is a number of US dollars
    void (() => client.images.generate({ ...input, max_cost: "1 USD" }));
    expect([estimate.known, estimate.amount]).toEqual([true, 0.06]);
    const error = await thrownBy(client.images.generate({ ...input, max_cost: 0.05 }));
    if (!BudgetError.isInstance(error)) throw error;
    expect(error.status).toBe(402);
    const before = (await client.usage.get()).total.amount;
    const run = await client.images.generate({ ...input, max_cost: 0.06 }).wait();
    expect(run.cost).toEqual({ amount: 0.06, currency: "USD" });
    expect((await client.usage.get({ by: "model" })).total.amount - before).toBeCloseTo(0.06, 6);
  });

  it("10. custom model: a LoRA of one's own", async () => {
    const model_type = "wan-image-2.1";
    const lora = { name: "Ink", deployment_id: "ink-v2", trigger_word: "inkstyle" };
    const { model_id } = await client.models.create({ ...lora, model_type });
    const run = await client.images.generate({ prompt: "a harbour", model_type, model_id, ...SMALL }).wait();
    // @ts-expect-error: wan-image-2.1 needs a model_id
    void (() => client.images.generate({ prompt: "x", model_type, ...SMALL }));
    // @ts-expect-error: no LoRA is trained for nanobanana
    void (() => client.models.create({ ...lora, model_type: "nanobanana" }));
    expect(run.images).toHaveLength(2);
    expect(run.warnings.join()).toContain("inkstyle");
    await client.models.delete(model_id);
    expect(NotFoundError.isInstance(await thrownBy(client.models.get(model_id)))).toBe(true);
  });

  it("11. errors: what is wrong with a request, and why a run failed", async () => {
    const invalid = await thrownBy(client.images.generate({ prompt: "wide", width: 9000 }));
    if (!ValidationError.isInstance(invalid)) throw invalid;
    expectTypeOf(invalid.forField("width")).toEqualTypeOf<FieldError[]>();
    // @ts-expect-error: only a failed run has the run
    void invalid.run;
    expect(invalid.forField("width").map(({ code }) => code)).toEqual(["out_of_range"]);
    const failed = await thrownBy(client.images.generate({ prompt: "no [sandbox:fail]", ...SMALL }).wait());
    // @ts-expect-error: an unknown error has no code until its class is known
    void failed.code;
    if (!RunFailedError.isInstance(failed)) throw failed;
    expectTypeOf(failed.code).toEqualTypeOf<string | undefined>();
    expect([failed.code, (await client.runs.get(failed.runId!)).status]).toEqual(["provider_error", "failed"]);
  });

  it("12. retries: one run for a call whose response is lost, and for two calls with one key", async () => {
    let cuts = 0;
    const proxy = await startProxy(environment.url, ({ method }) => method === "POST" && cuts++ === 0);
    const own = createClient({ baseUrl: proxy.url, apiKey: environment.key, maxRetries: 2 });
    const key = { idempotencyKey: "order-19" };
    const first = await own.images.generate({ prompt: "once", ...SMALL }, key);
    const second = await client.images.generate({ prompt: "once", ...SMALL }, key);
    await proxy.close();
    // @ts-expect-error: the key is an option of the call, not a field of the request
    void (() => client.images.generate({ prompt: "once", idempotencyKey: "order-19" }));
    // @ts-expect-error: a number of retries, not a yes
    void (() => createClient({ maxRetries: true }));
    expect([cuts, second.run_id]).toEqual([2, first.run_id]);
    const rows = await environment.query("select run_id from runs where inputs->>'prompt' = 'once'");
    expect(rows).toHaveLength(1);
  });
});
