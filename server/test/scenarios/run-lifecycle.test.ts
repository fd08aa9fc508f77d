// The life of a run from the call to the stored file, through the client: providers that misbehave, canceling,
// deleting, keys, lists and uploads.
import { type Client, createClient, type Run, type RunCall, RunFailedError } from "@gesso/client";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readSandboxLedger } from "../support/api-caller.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const SMALL = { width: 64, height: 64 };
let environment: TestEnvironment;
let client: Client;

beforeAll(async () => {
  environment = await startTestEnvironment({
    env: { UNKNOWN_SECONDS: "6", LOOKUP_GRACE_SECONDS: "1", SUBMIT_SECONDS: "5", RUN_DEADLINE_SECONDS: "60" },
  });
  client = createClient({ baseUrl: environment.url, apiKey: environment.key });
});
afterAll(() => environment?.stop());

const jobsOf = async (runId: string) =>
  (await readSandboxLedger(environment)).filter((job) => job.reference?.startsWith(runId));
/** The run when it has ended, in whichever way. */
const endOf = (call: RunCall<unknown>): Promise<Run> =>
  call.wait({ timeout: 40_000 }).catch((error) => {
    if (RunFailedError.isInstance(error)) return error.run as Run;
    throw error;
  });

describe("a run from POST to stored file", () => {
  it("is accepted immediately, completes, and its file is the requested image", async () => {
    const call = client.images.generate({ prompt: "a lighthouse", width: 320, height: 192, seed: 5 });
    const { data: open, response } = await call.withResponse();
    expect(response.status).toBe(202);
    expect(response.headers.get("location")).toBe(`/api/v1/runs/${open.run_id}`);
    expect(open).toMatchObject({ status: "queued", live_status: "pending", progress: 0, image_url: null });

    const run = await call.wait();
    expect(run).toMatchObject({ status: "completed", progress: 1, error: null });
    expect([run.provider, run.model]).toEqual(["sandbox", "flux-dev"]);
    const sourceImage = await run.image!.blob();
    expect(sourceImage.type).toBe("image/png");
    const { width, height } = await sharp(await sourceImage.arrayBuffer()).metadata();
    expect([width, height]).toEqual([320, 192]);
  });

  it("returns the ended run within the call with sync", async () => {
    const { data, response } = await client.images.generate({ prompt: "soon", ...SMALL, sync: true }).withResponse();
    expect([response.status, data.status]).toEqual([200, "completed"]);
    expect(data.data).toEqual({ run_id: data.run_id, image_url: data.image_url });
  });

  it("returns 204 with the URL of the run with Prefer: return=minimal", async () => {
    const call = client.images.generate({ prompt: "x", ...SMALL }, { minimal: true });
    expect([(await call.asResponse()).status, await call]).toEqual([204, null]);
    expect((await call.wait()).status).toBe("completed");
  });

  it("creates as many images as requested", async () => {
    const run = await client.images.generate({ prompt: "four", ...SMALL, batch_size: 4 }).wait();
    expect(run.image_urls).toHaveLength(4);
    expect(new Set(run.outputs.map((each) => each.sha256)).size).toBe(4);
  });

  it("creates batch_size times batch_count images, also if the provider makes fewer per request", async () => {
    const run = await client.images
      .generate({ prompt: "eight", ...SMALL, batch_size: 4, batch_count: 2, seed: 7 })
      .wait();
    expect([run.status, run.image_urls.length]).toEqual(["completed", 8]);
    expect(new Set(run.outputs.map((each) => each.sha256)).size).toBe(8);
  });

  it("serves its files whole, in ranges, by HEAD and by ETag, and nothing under a changed signature", async () => {
    const run = await client.images.generate({ prompt: "file", ...SMALL }).wait();
    const url = run.image_url!;
    const whole = Buffer.from(await run.image!.bytes());
    const part = await fetch(url, { headers: { range: "bytes=10-19" } });
    expect(part.status).toBe(206);
    expect(part.headers.get("content-range")).toBe(`bytes 10-19/${whole.length}`);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(whole.subarray(10, 20));
    const head = await fetch(url, { method: "HEAD" });
    expect(head.headers.get("content-length")).toBe(String(whole.length));
    const again = await fetch(url, { headers: { "if-none-match": head.headers.get("etag")! } });
    expect(again.status).toBe(304);
    expect((await fetch(url, { headers: { range: `bytes=${whole.length}-` } })).status).toBe(416);
    const forged = url.replace(/\/([^/])([^/]*)$/, (_, first, rest) => `/${first === "A" ? "B" : "A"}${rest}`);
    expect((await fetch(forged)).status).toBe(404);
  });
});

describe("a provider that misbehaves", () => {
  type Model = "flux-dev" | "qwen-image-edit" | "vendora";
  const ends = async (prompt: string, model_type: Model = "flux-dev") => {
    const run = await endOf(client.images.generate({ prompt, model_type, ...SMALL }));
    return { run, jobs: await jobsOf(run.run_id) };
  };

  it("fails: the run fails and costs nothing", async () => {
    const { run } = await ends("[sandbox:fail] x");
    expect(run).toMatchObject({ status: "failed", cost: null, image_url: null, error: { code: "provider_error" } });
  });

  it("refuses the content: the run reports it", async () => {
    expect((await ends("[sandbox:refuse] x")).run.error?.code).toBe("content_refused");
  });

  it("rejects the parameters: nothing was submitted", async () => {
    const { run, jobs } = await ends("[sandbox:reject] x");
    expect(run.error?.code).toBe("provider_rejected_input");
    expect(jobs).toHaveLength(0);
  });

  it("is busy twice: the run waits for Retry-After and is submitted once", async () => {
    const { run, jobs } = await ends("[sandbox:busy=2] x");
    expect([run.status, jobs.length]).toEqual(["completed", 1]);
  });

  it.each(["garbage", "truncated", "gone"])(
    "returns something that is not an image (%s): the run fails",
    async (kind) => {
      expect((await ends(`[sandbox:${kind}] x`)).run.error?.code).toBe("provider_output_invalid");
    },
  );

  it("never calls back: polling ends the run", async () => {
    expect((await ends("[sandbox:no_callback,delay=1] x")).run.status).toBe("completed");
  });

  it("calls back before it has responded: the run completes once", async () => {
    const { run, jobs } = await ends("[sandbox:callback_first] x", "vendora");
    expect([run.status, jobs.length]).toEqual(["completed", 1]);
  });

  it.each([
    ["A, replay", "flux-dev"],
    ["B, look-up", "qwen-image-edit"],
    ["C, callback", "vendora"],
  ] as const)(
    "accepts the job and drops the connection (class %s): the job is found again and paid once",
    async (_, model) => {
      const { run, jobs } = await ends("[sandbox:drop] x", model);
      expect([run.status, jobs.length]).toEqual(["completed", 1]);
    },
  );

  it("accepts the job, drops the connection and never calls back (class C): the outcome is unknown and nothing is charged", async () => {
    const { run, jobs } = await ends("[sandbox:drop,no_callback] x", "vendora");
    expect(run).toMatchObject({ status: "failed", cost: null, error: { code: "provider_outcome_unknown" } });
    expect(jobs).toHaveLength(1);
  });

  it("drops the connection before it has accepted the job (class B): the job is submitted again, once", async () => {
    const { run, jobs } = await ends(`[sandbox:drop_before] ${Date.now()}`, "qwen-image-edit");
    expect([run.status, jobs.length]).toEqual(["completed", 1]);
  });
});

describe("cancel and delete", () => {
  it("cancels a run in progress, and the provider receives the cancellation", async () => {
    const call = client.images.generate({ prompt: "[sandbox:never] x", ...SMALL });
    const { run_id } = await call;
    await expect.poll(async () => (await jobsOf(run_id))[0]?.status).toBe("running");
    expect((await client.runs.cancel(run_id).asResponse()).status).toBe(202);
    expect(await endOf(call)).toMatchObject({
      ...{ status: "canceled", image_url: null, error: { code: "canceled_by_user" } },
    });
    expect((await jobsOf(run_id))[0]!.status).toBe("canceled");
    await expect(client.runs.cancel(run_id)).rejects.toMatchObject({ code: "run_not_cancelable" });
  });

  it("cancels a run at the moment in which it starts", async () => {
    const ends = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        const call = client.images.generate({ prompt: "[sandbox:never] x", ...SMALL });
        const { run_id } = await call;
        await new Promise((resolve) => setTimeout(resolve, n % 20));
        await client.runs.cancel(run_id);
        return (await endOf(call)).status;
      }),
    );
    expect(new Set(ends)).toEqual(new Set(["canceled"]));
  });

  it("deletes an ended run with its files, and leaves a tombstone", async () => {
    const { run_id, image_url } = await client.images.generate({ prompt: "gone soon", ...SMALL }).wait();
    await client.runs.delete(run_id);
    await expect(client.runs.get(run_id)).rejects.toMatchObject({ status: 410, code: "run_deleted" });
    expect((await fetch(image_url!)).status).toBe(410);
    const { data } = await client.runs.list({ limit: 100 });
    expect(data.map((run) => run.run_id)).not.toContain(run_id);
  });

  it("refuses to delete a run in progress", async () => {
    const { run_id } = await client.images.generate({ prompt: "[sandbox:delay=2] x", ...SMALL });
    await expect(client.runs.delete(run_id)).rejects.toMatchObject({ status: 409 });
  });
});

describe("idempotency", () => {
  it("creates one run for 500 requests with one key", async () => {
    const once = { idempotencyKey: crypto.randomUUID() };
    const post = () => client.images.generate({ prompt: "only once", ...SMALL, seed: 1 }, once).withResponse();
    const responses = await Promise.all(Array.from({ length: 500 }, post));
    const [id, ...others] = new Set(responses.map(({ data }) => data.run_id));
    expect(others).toEqual([]);
    expect(responses.filter(({ response }) => !response.headers.has("idempotent-replayed"))).toHaveLength(1);
    const rows = await environment.query("select run_id from runs where inputs->>'prompt' = 'only once'");
    expect(rows).toEqual([{ run_id: id }]);
    await client.runs.get(id!).wait();
    expect(await jobsOf(id!)).toHaveLength(1);
  });

  it("refuses a key that was used for another input", async () => {
    const once = { idempotencyKey: crypto.randomUUID() };
    await client.images.generate({ prompt: "one", ...SMALL }, once);
    const other = client.images.generate({ prompt: "two", ...SMALL }, once);
    await expect(other).rejects.toMatchObject({ status: 422, code: "idempotency_key_reused" });
  });
});

describe("listing", () => {
  it("visits every run once by its cursor, newest first, and refuses a cursor of another list", async () => {
    const seen: string[] = [];
    for await (const run of client.runs.list({ limit: 7 })) seen.push(run.run_id);
    expect(seen.length).toBeGreaterThan(14);
    expect(seen).toEqual([...new Set(seen)].sort().reverse());
    const cursor = (await client.runs.list({ limit: 2 })).next_cursor!;
    const other = client.runs.list({ limit: 2, status: "failed", cursor });
    await expect(other).rejects.toMatchObject({ code: "invalid_cursor" });
  });
});

describe("uploads", () => {
  const teal = () =>
    sharp({ create: { width: 40, height: 30, channels: 3, background: "teal" } })
      .png()
      .toBuffer();

  it("stores an image and shows it as a completed run", async () => {
    const { data, response } = await client.images.upload({ file: await teal(), description: "teal" }).withResponse();
    expect(response.status).toBe(201);
    expect(data).toMatchObject({ success: true, data: { image_url: expect.any(String) } });
    const run = await client.runs.get(data.data.run_id);
    expect(run).toMatchObject({ run_type: "upload", status: "completed", live_status: null });
    expect(run.inputs).toMatchObject({ description: "teal" });
  });

  it("links a mask to its run", async () => {
    const { data: first } = await client.images.upload({ file: await teal() });
    const { data: mask } = await client.images.uploadMask({ file: await teal(), parent_id: first.run_id });
    expect(mask.parent_id).toBe(first.run_id);
    expect((await client.runs.get(mask.run_id)).run_type).toBe("mask-upload");
  });

  it("refuses what is not an image", async () => {
    const text = client.images.upload({ file: new Blob(["hello, I am only text"], { type: "image/png" }) });
    await expect(text).rejects.toMatchObject({ status: 415, code: "unsupported_image_format" });
    await expect(client.images.upload({} as never)).rejects.toMatchObject({ code: "validation_error" });
  });
});
