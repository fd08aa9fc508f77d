import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callerOf, readLedger } from "../caller.ts";
import { startWorld, type World } from "../world.ts";

let world: World;
let caller: ReturnType<typeof callerOf>;

beforeAll(async () => {
  world = await startWorld({
    env: { UNKNOWN_SECONDS: "6", LOOKUP_GRACE_SECONDS: "1", SUBMIT_SECONDS: "5", RUN_DEADLINE_SECONDS: "60" },
  });
  caller = callerOf(world);
}, 60_000);
afterAll(() => world?.stop());

const jobsOf = async (runId: string) => (await readLedger(world)).filter((job) => job.reference?.startsWith(runId));

describe("a run from POST to stored file", () => {
  it("is accepted at once, ends completed, and its file is the picture that was asked for", async () => {
    const accepted = await caller.generate({ prompt: "a lighthouse", width: 320, height: 192, seed: 5 });
    expect(accepted.status).toBe(202);
    expect(accepted.headers.get("location")).toBe(`/api/v1/runs/${accepted.body.run_id}`);
    expect(accepted.body).toMatchObject({ status: "queued", live_status: "pending", progress: 0, image_url: null });

    const run = await caller.ended(accepted.body.run_id);
    expect(run).toMatchObject({
      status: "completed",
      progress: 1,
      provider: "sandbox",
      model: "flux-dev",
      error: null,
    });
    const file = await fetch(run.image_url);
    expect(file.headers.get("content-type")).toBe("image/png");
    const picture = await sharp(Buffer.from(await file.arrayBuffer())).metadata();
    expect([picture.width, picture.height]).toEqual([320, 192]);
  });

  it("answers the ended run within the call when asked to wait", async () => {
    const { status, body } = await caller.generate({ prompt: "soon", width: 64, height: 64, sync: true });
    expect(status).toBe(200);
    expect(body.status).toBe("completed");
    expect(body.data).toEqual({ run_id: body.run_id, image_url: body.image_url });
  });

  it("answers 204 with the run's place to those who prefer little", async () => {
    const { status, headers, body } = await caller.generate(
      { prompt: "x", width: 64, height: 64 },
      { prefer: "return=minimal" },
    );
    expect(status).toBe(204);
    expect(body).toBe("");
    expect((await caller.ended(headers.get("x-run-id")!)).status).toBe("completed");
  });

  it("makes as many pictures as asked", async () => {
    const { body } = await caller.generate({ prompt: "four", width: 64, height: 64, batch_size: 4, sync: true });
    expect(body.image_urls).toHaveLength(4);
    expect(new Set(body.outputs.map((each: any) => each.sha256)).size).toBe(4);
  });

  it("serves its files whole, in ranges, by HEAD and by tag, and nothing under a changed signature", async () => {
    const { body } = await caller.generate({ prompt: "file", width: 64, height: 64, sync: true });
    const whole = Buffer.from(await (await fetch(body.image_url)).arrayBuffer());
    const part = await fetch(body.image_url, { headers: { range: "bytes=10-19" } });
    expect(part.status).toBe(206);
    expect(part.headers.get("content-range")).toBe(`bytes 10-19/${whole.length}`);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(whole.subarray(10, 20));
    const head = await fetch(body.image_url, { method: "HEAD" });
    expect(head.headers.get("content-length")).toBe(String(whole.length));
    const again = await fetch(body.image_url, { headers: { "if-none-match": head.headers.get("etag")! } });
    expect(again.status).toBe(304);
    expect((await fetch(body.image_url, { headers: { range: `bytes=${whole.length}-` } })).status).toBe(416);
    const forged = body.image_url.replace(
      /\/([^/])([^/]*)$/,
      (_: string, first: string, rest: string) => `/${first === "A" ? "B" : "A"}${rest}`,
    );
    expect((await fetch(forged)).status).toBe(404);
  });
});

describe("a provider that misbehaves", () => {
  const ends = async (prompt: string, model_type = "flux-dev") => {
    const { body } = await caller.generate({ prompt, model_type, width: 64, height: 64 });
    return { run: await caller.ended(body.run_id, 40), jobs: await jobsOf(body.run_id) };
  };

  it("fails: the run fails and costs nothing", async () => {
    const { run } = await ends("[sandbox:fail] x");
    expect(run).toMatchObject({ status: "failed", cost: null, image_url: null, error: { code: "provider_error" } });
  });

  it("refuses the content: the run says so", async () => {
    expect((await ends("[sandbox:refuse] x")).run.error.code).toBe("content_refused");
  });

  it("rejects the parameters: nothing was submitted", async () => {
    const { run, jobs } = await ends("[sandbox:reject] x");
    expect(run.error.code).toBe("provider_rejected_input");
    expect(jobs).toHaveLength(0);
  });

  it("is busy twice: the run waits as told and is submitted once", async () => {
    const { run, jobs } = await ends("[sandbox:busy=2] x");
    expect(run.status).toBe("completed");
    expect(jobs).toHaveLength(1);
  });

  it("hands out something that is no picture: the run fails", async () => {
    expect((await ends("[sandbox:garbage] x")).run.error.code).toBe("provider_output_invalid");
    expect((await ends("[sandbox:truncated] x")).run.error.code).toBe("provider_output_invalid");
    expect((await ends("[sandbox:gone] x")).run.error.code).toBe("provider_output_invalid");
  });

  it("never calls back: polling ends the run", async () => {
    expect((await ends("[sandbox:no_callback,delay=1] x")).run.status).toBe("completed");
  });

  it("calls back before it has answered: the run completes once", async () => {
    const { run, jobs } = await ends("[sandbox:callback_first] x", "vendora");
    expect(run.status).toBe("completed");
    expect(jobs).toHaveLength(1);
  });

  for (const [kind, model] of [
    ["A, replay", "flux-dev"],
    ["B, look-up", "qwen-image-edit"],
    ["C, callback", "vendora"],
  ] as const) {
    it(`takes the job and drops the line (class ${kind}): the job is found again and paid once`, async () => {
      const { run, jobs } = await ends("[sandbox:drop] x", model);
      expect(run.status).toBe("completed");
      expect(jobs).toHaveLength(1);
    });
  }

  it("takes the job, drops the line and never calls back (class C): the outcome is unknown and nothing is charged", async () => {
    const { run, jobs } = await ends("[sandbox:drop,no_callback] x", "vendora");
    expect(run).toMatchObject({ status: "failed", cost: null, error: { code: "provider_outcome_unknown" } });
    expect(jobs).toHaveLength(1);
  });

  it("drops the line before it has taken anything (class B): the job is sent again, once", async () => {
    const { run, jobs } = await ends(`[sandbox:drop_before] ${Date.now()}`, "qwen-image-edit");
    expect(run.status).toBe("completed");
    expect(jobs).toHaveLength(1);
  });
});

describe("cancel and delete", () => {
  it("cancels a run at work, and the provider hears of it", async () => {
    const { body } = await caller.generate({ prompt: "[sandbox:never] x", width: 64, height: 64 });
    await expect.poll(async () => (await jobsOf(body.run_id))[0]?.status, { timeout: 10_000 }).toBe("running");
    const canceled = await caller.post(`/runs/${body.run_id}/cancel`);
    expect(canceled.status).toBe(202);
    const run = await caller.ended(body.run_id, 15);
    expect(run).toMatchObject({ status: "canceled", image_url: null, error: { code: "canceled_by_user" } });
    expect((await jobsOf(body.run_id))[0]!.status).toBe("canceled");
    expect((await caller.post(`/runs/${body.run_id}/cancel`)).body.code).toBe("run_not_cancelable");
  });

  it("cancels a run in the very moment in which it begins", async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        const { body } = await caller.generate({ prompt: "[sandbox:never] x", width: 64, height: 64 });
        await new Promise((resolve) => setTimeout(resolve, n % 20));
        return caller.post(`/runs/${body.run_id}/cancel`);
      }),
    );
    expect(answers.filter(({ body }) => body.code !== undefined)).toEqual([]);
    const ends = await Promise.all(answers.map(async ({ body }) => (await caller.ended(body.run_id)).status));
    expect(new Set(ends)).toEqual(new Set(["canceled"]));
  });

  it("deletes an ended run with its files, and remembers that it was there", async () => {
    const { body } = await caller.generate({ prompt: "gone soon", width: 64, height: 64, sync: true });
    expect((await caller.delete(`/runs/${body.run_id}`)).status).toBe(200);
    expect((await caller.get(`/runs/${body.run_id}`)).body.code).toBe("run_deleted");
    expect((await fetch(body.image_url)).status).toBe(410);
    const list = await caller.get("/runs?limit=100");
    expect(list.body.data.map((run: any) => run.run_id)).not.toContain(body.run_id);
  });

  it("refuses to delete a run at work", async () => {
    const { body } = await caller.generate({ prompt: "[sandbox:delay=2] x", width: 64, height: 64 });
    expect((await caller.delete(`/runs/${body.run_id}`)).status).toBe(409);
  });
});

describe("idempotency", () => {
  it("makes one run of 500 posts with one key", async () => {
    const key = crypto.randomUUID();
    const body = { prompt: "only once", width: 64, height: 64, seed: 1 };
    const answers = await Promise.all(
      Array.from({ length: 500 }, () => caller.generate(body, { "idempotency-key": key })),
    );
    expect(new Set(answers.map((answer) => answer.body.run_id)).size).toBe(1);
    expect(answers.filter((answer) => !answer.headers.has("idempotent-replayed"))).toHaveLength(1);
    const [row] = await world.query<{ count: number }>(
      "select count(*)::int from runs where inputs->>'prompt' = 'only once'",
    );
    expect(row!.count).toBe(1);
    const run = await caller.ended(answers[0]!.body.run_id);
    expect(await jobsOf(run.run_id)).toHaveLength(1);
  });

  it("refuses a key that was used for something else", async () => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    await caller.generate({ prompt: "one", width: 64, height: 64 }, headers);
    const other = await caller.generate({ prompt: "two", width: 64, height: 64 }, headers);
    expect([other.status, other.body.code]).toEqual([422, "idempotency_key_reused"]);
  });
});

describe("listing", () => {
  it("visits every run once by its cursor, newest first, and refuses a cursor of another list", async () => {
    const seen: string[] = [];
    let cursor = "";
    do {
      const { body } = await caller.get(`/runs?limit=7${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.data.map((run: any) => run.run_id));
      cursor = body.next_cursor ?? "";
    } while (cursor);
    expect(seen).toEqual([...new Set(seen)].sort().reverse());
    const { body } = await caller.get("/runs?limit=2");
    expect((await caller.get(`/runs?limit=2&status=failed&cursor=${body.next_cursor}`)).body.code).toBe(
      "invalid_cursor",
    );
  });
});

describe("uploads", () => {
  const form = async (fields: Record<string, string> = {}) => {
    const bytes = await sharp({ create: { width: 40, height: 30, channels: 3, background: "teal" } })
      .png()
      .toBuffer();
    const data = new FormData();
    data.set("file", new Blob([new Uint8Array(bytes)], { type: "image/png" }), "a.png");
    for (const [name, value] of Object.entries(fields)) data.set(name, value);
    return data;
  };

  it("keeps an image and shows it as a completed run", async () => {
    const { status, body } = await caller.post("/upload", await form({ description: "teal" }));
    expect(status).toBe(201);
    expect(body).toMatchObject({ success: true, data: { image_url: expect.any(String) } });
    const run = (await caller.get(`/runs/${body.data.run_id}`)).body;
    expect(run).toMatchObject({
      run_type: "upload",
      status: "completed",
      live_status: null,
      inputs: { description: "teal" },
    });
  });

  it("links a mask to its run", async () => {
    const first = (await caller.post("/upload", await form())).body.data.run_id;
    const { body } = await caller.post("/upload", await form({ isMask: "true", parent_id: first }));
    expect(body.data.parent_id).toBe(first);
    expect((await caller.get(`/runs/${body.data.run_id}`)).body.run_type).toBe("mask-upload");
  });

  it("refuses what is no image, in the upload's own shape", async () => {
    const data = new FormData();
    data.set("file", new Blob(["hello, I am only text"], { type: "image/png" }), "a.png");
    const { status, body } = await caller.post("/upload", data);
    expect([status, body.success, body.code]).toEqual([415, false, "unsupported_image_format"]);
    expect((await caller.post("/upload", new FormData())).body).toMatchObject({
      success: false,
      code: "validation_error",
    });
  });
});
