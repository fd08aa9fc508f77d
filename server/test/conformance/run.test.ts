// A run as callers see it: its fields in every state, how it is read, waited for, canceled and deleted.
import { createHash } from "node:crypto";
import { beforeAll, describe, expect, vi } from "vitest";
import type { ApiResponse } from "../support/api-caller.ts";
import { createTestTenant } from "../support/tenants.ts";
import { it } from "./http-and-client.ts";
import { download } from "./response-checks.ts";
import {
  type RunRequest,
  readRunRef,
  runOperations,
  runRequests,
  sendRun,
  statusAndCode,
  UNKNOWN_ID,
} from "./run-requests.ts";
import { oncePerTransport, useSuite } from "./suite.ts";

const suite = useSuite();
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const SMALL = { width: 64, height: 64 };
const RUN_TYPES = [
  ...["image-generation", "upload", "mask-upload", "segment", "background-removal", "generative-remove", "extract"],
  ...["reframe", "image-edit", "combine", "character-generation", "reference-generation", "describe", "mask-edit"],
  ...["video-generation", "prompt-enhancement", "upscale", "variation", "model"],
];

let source: string;
let requests: RunRequest[];
let slowRequest: Promise<{ answer: ApiResponse; seconds: number }>;

const generate = (prompt: string, more: object = {}) => suite.caller.generate({ prompt, ...SMALL, ...more });
const read = async (runId: string) => (await suite.caller.get(`/runs/${runId}`)).body;
const cancel = (runId: string) => suite.caller.post(`/runs/${runId}/cancel`);
const ended = async (prompt: string) => suite.caller.waitUntilEnded((await generate(prompt)).body.run_id);
const untilProcessing = (runId: string) =>
  vi.waitUntil(async () => (await read(runId)).status === "processing", { timeout: 300_000, interval: 50 });
async function underWay(): Promise<string> {
  const { body } = await generate("[sandbox:never] x");
  await untilProcessing(body.run_id);
  return body.run_id;
}

beforeAll(async () => {
  const forever = await underWay();
  const startedAt = performance.now();
  slowRequest = suite.caller
    .get(`/runs/${forever}`, { prefer: "wait=30" })
    .then((response) => ({ answer: response, seconds: (performance.now() - startedAt) / 1000 }));
  source = await suite.uploadImage();
  requests = await runRequests(source);
});

/**
 * One run of each operation with its response, and all of them in their current state with one of each other outcome.
 */
const stock = oncePerTransport(async () => {
  const responses = await Promise.all(requests.map(async (each) => [each.name, await sendRun(suite, each)] as const));
  const failed = await ended("[sandbox:fail,delay=0] x");
  const [stopped, open] = [await underWay(), await underWay()];
  await cancel(stopped);
  const endings = [...responses.map(([, response]) => readRunRef(response).run_id), failed.run_id, stopped];
  const runs: any[] = await Promise.all([...endings.map((id) => suite.caller.waitUntilEnded(id)), read(open)]);
  return { answers: new Map(responses), runs };
});

describe("a run", () => {
  it("[RUN-001] of every operation is named in the response and can be read by that ID", async () => {
    const { answers: responses } = await stock();
    expect(responses.size).toBe(runOperations.length);
    for (const [name, response] of responses) {
      const { run_id } = readRunRef(response);
      expect([name, (await suite.caller.get(`/runs/${run_id}`)).body.run_id]).toEqual([name, run_id]);
    }
  });

  it("[RUN-002] [RUN-014] of every operation is read in one shape", async () => {
    const { answers: responses, runs } = await stock();
    const shape = [
      ...["run_id", "user_id", "created_at", "updated_at", "image_url", "inputs", "live_status", "status", "progress"],
      ...["run_type", "parent_run_id", "image_urls", "video_url", "outputs", "error", "phase", "queue_position"],
      ...["model", "provider", "cost", "warnings", "metadata", "started_at", "finished_at", "expires_at"],
    ];
    // Fields may be added, but to all runs alike.
    const fields = Object.keys(runs[0]).sort();
    expect(fields).toEqual(expect.arrayContaining(shape));
    for (const response of responses.values()) {
      const { status, body } = await suite.caller.get(`/runs/${readRunRef(response).run_id}`);
      expect(status).toBe(200);
      expect(Object.keys(body).sort()).toEqual(fields);
    }
  });

  it("[RUN-003] has a UUID of its own", async () => {
    const { runs } = await stock();
    expect(runs).toHaveLength(runOperations.length + 3);
    for (const run of runs) expect(run.run_id).toMatch(UUID);
    expect(new Set(runs.map((run) => run.run_id)).size).toBe(runs.length);
  });

  it("[RUN-004] names the user of the credential as its owner", async () => {
    const { runs } = await stock();
    expect(new Set(runs.map((run) => run.user_id))).toEqual(new Set(["owner"]));
    const { tenantId } = suite.environment;
    const { key } = await createTestTenant(suite.environment, { tenantId, user_id: "maria", role: "developer" });
    const { body } = await suite.callerWith(key).generate({ prompt: "[sandbox:delay=0] x", ...SMALL });
    expect([body.user_id, (await read(body.run_id)).user_id]).toEqual(["maria", "maria"]);
  });

  it("[RUN-005] has the times of its creation and last change, in that order", async () => {
    const { runs } = await stock();
    for (const { created_at, updated_at } of runs) {
      expect([created_at, updated_at]).toEqual([expect.stringMatching(ISO), expect.stringMatching(ISO)]);
      expect(Date.parse(updated_at)).toBeGreaterThanOrEqual(Date.parse(created_at));
    }
    expect(runs.some(({ created_at, updated_at }) => updated_at > created_at)).toBe(true);
  });

  it("[RUN-006] has an image exactly when it completed and made one", async () => {
    const { runs } = await stock();
    for (const { status, image_url, outputs, run_type } of runs) {
      const made = status === "completed" && outputs.some((file: any) => file.media_type.startsWith("image/"));
      expect([run_type, typeof image_url]).toEqual([run_type, made ? "string" : "object"]);
      if (!made) expect(image_url).toBeNull();
    }
    expect(runs.filter((run) => run.image_url).length).toBeGreaterThan(15);
  });

  it("[RUN-007] shows its inputs with defaults and without the secret", async () => {
    const secret = { webhook_secret: "sixteen bytes and more", webhook_url: "https://hooks.example.com/x" };
    const { body } = await generate("[sandbox:delay=0] x", secret);
    const { inputs } = await read(body.run_id);
    expect(inputs).toMatchObject({
      ...{ prompt: "[sandbox:delay=0] x", ...SMALL, model_type: "flux-dev", strength_model: 1, model_weight: 0.7 },
      ...{ guidance: 7.5, lora_low_strength: 0.5, lora_high_strength: 1, webhook_url: secret.webhook_url },
    });
    expect(inputs).not.toHaveProperty("webhook_secret");
  });

  it("[RUN-008] [RUN-009] is in one of five states, and live_status follows from it", async () => {
    const { runs } = await stock();
    for (const { status, live_status, run_type } of runs) {
      expect(["queued", "processing", "completed", "failed", "canceled"]).toContain(status);
      const live = run_type.endsWith("upload") ? null : status === "queued" ? "pending" : status;
      expect([run_type, live_status]).toEqual([run_type, live]);
    }
    const seen = new Set(runs.map((run) => run.status));
    expect(seen).toEqual(new Set(["processing", "completed", "failed", "canceled"]));
  });

  it("[RUN-012] is of the kind that its operation makes", async () => {
    const { answers: responses, runs } = await stock();
    for (const { name, run_type } of requests) {
      expect([name, (await read(readRunRef(responses.get(name)!).run_id)).run_type]).toEqual([name, run_type]);
    }
    for (const run of runs) expect(RUN_TYPES).toContain(run.run_type);
    expect(new Set(runs.map((run) => run.run_type)).size).toBe(RUN_TYPES.length);
  });

  it("[RUN-013] names the run that it was made from", async () => {
    const { runs } = await stock();
    for (const { parent_run_id } of runs) if (parent_run_id !== null) expect(parent_run_id).toMatch(UUID);
    const parents = (type: string) => runs.filter((run) => run.run_type === type).map((run) => run.parent_run_id);
    expect(parents("image-edit")).toEqual([source, source, source, source, source]);
    expect(new Set(parents("image-generation"))).toEqual(new Set([null]));
  });

  it("[RUN-015] lists its files with size and hash of what is behind their addresses", async () => {
    const { runs } = await stock();
    const files = runs.flatMap((run) => run.outputs);
    expect(files.length).toBeGreaterThan(15);
    for (const file of files) {
      expect(file).toMatchObject({
        ...{ asset_id: expect.stringMatching(UUID), media_type: expect.stringMatching(/^(image|video)\//) },
        ...{ width: expect.any(Number), height: expect.any(Number), role: expect.any(String) },
      });
      const bytes = await download(file.url);
      expect([file.size_bytes, file.sha256]).toEqual([
        ...[bytes.length, createHash("sha256").update(bytes).digest("hex")],
      ]);
    }
  });

  it("[RUN-016] [RUN-017] has an error exactly when it failed or was canceled", async () => {
    const { runs } = await stock();
    for (const { status, error } of runs) {
      if (["failed", "canceled"].includes(status)) {
        expect(error).toMatchObject({ message: expect.stringMatching(/\S/), code: expect.any(String), details: {} });
      } else expect(error).toBeNull();
    }
    const failed = runs.find((run) => run.status === "failed");
    expect(failed).toMatchObject({ live_status: "failed", image_url: null, error: { code: "provider_error" } });
  });

  it("[RUN-020] that has ended is the same at every later read", async () => {
    const { runs } = await stock();
    for (const { run_id, status, image_url, outputs } of runs.filter((run) => run.finished_at)) {
      expect(await read(run_id)).toMatchObject({ status, image_url, outputs });
    }
  });
});

describe("over time a run", () => {
  it("[RUN-011] [RUN-019] moves only forward", async () => {
    const { body } = await generate("[sandbox:delay=2] x");
    const seen = [body];
    while (!seen.at(-1).finished_at) seen.push(await read(body.run_id));
    const order = ["queued", "processing", "completed"];
    for (const [index, run] of seen.slice(1).entries()) {
      const before = seen[index];
      expect(order.indexOf(run.status)).toBeGreaterThanOrEqual(order.indexOf(before.status));
      expect(run.progress).toBeGreaterThanOrEqual(before.progress);
    }
    expect(seen.map((run) => run.status)).toContain("processing");
    expect(seen.at(-1).status).toBe("completed");
  });

  it("[RUN-021] is read again cheaply by its tag", async () => {
    const { headers } = await suite.caller.get(`/runs/${source}`);
    const again = await suite.caller.get(`/runs/${source}`, { "if-none-match": headers.get("etag")! });
    expect([again.status, again.body]).toEqual([304, ""]);
    const other = await suite.caller.get(`/runs/${source}`, { "if-none-match": '"other"' });
    expect(other.status).toBe(200);
  });

  it("[RUN-022] has a Retry-After header while it is unfinished", async () => {
    const run = await underWay();
    expect((await suite.caller.get(`/runs/${run}`)).headers.get("retry-after")).toMatch(/^\d+$/);
    expect((await suite.caller.get(`/runs/${source}`)).headers.get("retry-after")).toBeNull();
    await cancel(run);
  });
});

describe("to cancel and to delete", () => {
  it("[RUN-030] a run in processing is canceled, and ends in exactly one way", async () => {
    const run = await underWay();
    expect(await cancel(run)).toMatchObject({ status: 202, body: { run_id: run } });
    const end = await suite.caller.waitUntilEnded(run);
    expect(["canceled", "completed", "failed"]).toContain(end.status);
    expect(await read(run)).toEqual(end);
  });

  it("[RUN-031] a run that has ended is refused and stays as it was", async () => {
    const { runs } = await stock();
    for (const status of ["completed", "failed", "canceled"]) {
      const run = runs.find((each) => each.status === status);
      expect(statusAndCode(await cancel(run.run_id))).toEqual([409, "run_not_cancelable"]);
      expect(await read(run.run_id)).toEqual(run);
    }
  });

  it("[RUN-032] a deleted run is gone for reads and from the list", async () => {
    const { run_id } = await ended("[sandbox:delay=0] x");
    expect((await suite.caller.delete(`/runs/${run_id}`)).status).toBe(200);
    expect(statusAndCode(await suite.caller.get(`/runs/${run_id}`))).toEqual([410, "run_deleted"]);
    const { data } = (await suite.caller.get("/runs?limit=100")).body;
    expect(data.map((run: any) => run.run_id)).not.toContain(run_id);
  });

  it("[RUN-044] an unfinished run is not deleted, and continues", async () => {
    const { body } = await generate("[sandbox:delay=2] x");
    expect(statusAndCode(await suite.caller.delete(`/runs/${body.run_id}`))).toEqual([409, "conflict"]);
    expect((await suite.caller.waitUntilEnded(body.run_id)).status).toBe("completed");
  });
});

describe("runs that are made from runs", () => {
  const referring = () => requests.filter(({ fields }) => JSON.stringify(fields).includes(source));

  it("[RUN-036] form a chain by their parents", async () => {
    const upload = await suite.uploadImage();
    const { body: reframed } = await suite.caller.post("/edits/reframe", {
      ...{ run_id: upload, aspect_ratio: "1:1", sync: true },
    });
    const { body: extracted } = await suite.caller.post("/edits/extract", {
      ...{ run_id: reframed.run_id, prompt: "the red circle", sync: true },
    });
    const chain = [extracted.run_id];
    for (let run = await read(chain[0]); run.parent_run_id; run = await read(run.parent_run_id)) {
      chain.push(run.parent_run_id);
    }
    expect(chain).toEqual([extracted.run_id, reframed.run_id, upload]);
  });

  it("are not made from a run that is not there, whichever field names it", async () => {
    const newest = async () => (await suite.caller.get("/runs?limit=1")).body.data[0].run_id;
    const before = await newest();
    const independent = ["images.generate", "images.upload", "images.uploadMask", "prompts.enhance"];
    expect(referring()).toHaveLength(runOperations.length - independent.length);
    for (const request of await runRequests(UNKNOWN_ID)) {
      if (!referring().some(({ name }) => name === request.name)) continue;
      const response = await sendRun(suite, request);
      expect([request.name, ...statusAndCode(response)]).toEqual([request.name, 404, "run_not_found"]);
    }
    const linked = suite.form({ file: await download((await read(source)).image_url), parent_id: UNKNOWN_ID });
    expect(statusAndCode(await suite.caller.post("/upload", linked))).toEqual([404, "run_not_found"]);
    expect(await newest()).toBe(before);
  });

  it("[RUN-041] are not made from a source that is still open", async () => {
    const open = await underWay();
    for (const request of (await runRequests(open)).filter(({ fields }) => JSON.stringify(fields).includes(open))) {
      const response = await sendRun(suite, request);
      expect([request.name, ...statusAndCode(response)]).toEqual([request.name, 409, "run_not_ready"]);
    }
    await cancel(open);
  });

  it.each(["failed", "canceled"])("[RUN-042] are not made from a %s run", async (status) => {
    const { runs } = await stock();
    const { run_id } = runs.find((run) => run.status === status);
    for (const request of (await runRequests(run_id)).filter(({ fields }) => JSON.stringify(fields).includes(run_id))) {
      const response = await sendRun(suite, request);
      expect([request.name, ...statusAndCode(response)]).toEqual([request.name, 409, "source_run_failed"]);
    }
  });

  it("[RUN-043] that fail in a synchronous call return 200 with their error", async () => {
    const { status, body } = await suite.caller.post("/edits/flux-kontext", {
      ...{ original_run_id: source, prompt: "[sandbox:fail,delay=0] x", model: "flux-kontext-max", sync: true },
    });
    expect([status, body.status, body.error.code]).toEqual([200, "failed", "provider_error"]);
  });
});

describe("an open run", () => {
  it("[RUN-023] can be waited for: until its end, or for thirty seconds", async () => {
    const { body } = await generate("[sandbox:delay=2] x");
    const startedAt = performance.now();
    const waited = await suite.caller.get(`/runs/${body.run_id}`, { prefer: "wait=30" });
    expect(waited.body.status).toBe("completed");
    const seconds = (performance.now() - startedAt) / 1000;
    expect(seconds).toBeGreaterThan(1);

    const { answer: response, seconds: all } = await slowRequest;
    expect([response.status, response.body.status]).toEqual([200, "processing"]);
    expect(all).toBeGreaterThan(29);
    expect(seconds).toBeLessThan(all);
  });
});
