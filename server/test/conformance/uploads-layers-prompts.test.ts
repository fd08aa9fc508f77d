// Stored resources: uploads, the layers of a run, prompts, and the list of runs.
import sharp from "sharp";
import { beforeAll, describe, expect } from "vitest";
import type { ApiResponse } from "../support/api-caller.ts";
import { drawScene } from "../support/scene.ts";
import { findSandboxJob } from "./expectations.ts";
import { it } from "./http-and-client.ts";
import { callSandbox, download } from "./response-checks.ts";
import { envelopeSuccess, fieldErrors, formOf, statusAndCode, UNKNOWN_ID } from "./run-requests.ts";
import { useSuite } from "./suite.ts";

const suite = useSuite();
let source: string;

beforeAll(async () => {
  source = await suite.uploadImage();
});

const upload = async (fields: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  suite.caller.post("/upload", formOf(suite, { file: await drawScene(), ...fields }), headers);
const read = async (runId: string) => (await suite.caller.get(`/runs/${runId}`)).body;
const newest = async () => (await suite.caller.get("/runs?limit=1")).body.data[0]?.run_id;

describe("an upload", () => {
  it("[UPL-001] [UPL-002] returns 201 and the upload response", async () => {
    const { status, body } = await upload();
    expect(status).toBe(201);
    expect(body).toMatchObject({ success: true, message: expect.stringMatching(/\S/) });
    for (const field of ["id", "image_url", "run_id", "created_at"]) expect(body.data[field]).toMatch(/\S/);
    expect(new Date(body.data.created_at).toISOString()).toBe(body.data.created_at);
  });

  it("[UPL-003] [UPL-004] is a run of its own kind, and a mask is one of another", async () => {
    const kind = async (fields?: Record<string, unknown>) =>
      (await read((await upload(fields)).body.data.run_id)).run_type;
    expect(await kind()).toBe("upload");
    expect(await kind({ isMask: "true" })).toBe("mask-upload");
    expect(await kind({ isMask: "false" })).toBe("upload");
  });

  it("[UPL-005] has ended when the response arrives", async () => {
    const run = await read((await upload()).body.data.run_id);
    expect(run).toMatchObject({ status: "completed", live_status: null, progress: 1 });
    expect(run.image_url).toMatch(/^http/);
  });

  it("[UPL-006] needs a file", async () => {
    const response = await suite.caller.post("/upload", suite.form({ description: "nothing" }));
    expect([...statusAndCode(response), ...fieldErrors(response), envelopeSuccess(response)]).toEqual([
      ...[400, "validation_error", "/file required", false],
    ]);
  });

  it("[UPL-007] may be described, or not", async () => {
    const { body } = await upload({ description: "The harbour, 1904 ⚓" });
    expect((await read(body.data.run_id)).inputs.description).toBe("The harbour, 1904 ⚓");
    expect((await read(source)).inputs).not.toHaveProperty("description");
  });

  it("[UPL-008] [UPL-009] is linked to the run that parent_id names, and to none without it", async () => {
    const linked = (await upload({ parent_id: source })).body.data;
    expect(linked.parent_id).toBe(source);
    expect((await read(linked.run_id)).parent_run_id).toBe(source);
    const alone = (await upload()).body.data;
    expect(alone).not.toHaveProperty("parent_id");
    expect((await read(alone.run_id)).parent_run_id).toBeNull();
  });

  it("with a parent that is not there is refused, and nothing is stored", async () => {
    const before = await newest();
    const response = await upload({ parent_id: UNKNOWN_ID });
    expect([...statusAndCode(response), envelopeSuccess(response)]).toEqual([404, "run_not_found", false]);
    expect(await newest()).toBe(before);
  });

  it("[UPL-011] is read back in the size it had", async () => {
    const { body } = await upload({ file: await drawScene(150, 70) });
    const response = await fetch(body.data.image_url);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, expect.stringMatching(/^image\//)]);
    const { width, height } = await sharp(Buffer.from(await response.arrayBuffer())).metadata();
    expect([width, height]).toEqual([150, 70]);
  });

  it("[UPL-012] is what its bytes are, whatever it is called", async () => {
    const form = new FormData();
    form.set("file", new Blob(["only words"], { type: "image/png" }), "a.png");
    expect(statusAndCode(await suite.caller.post("/upload", form))).toEqual([415, "unsupported_image_format"]);
  });

  it("[UPL-013] that is cut off in the middle is refused", async () => {
    const whole = await sharp(await drawScene(256, 256))
      .sharpen()
      .png({ compressionLevel: 0 })
      .toBuffer();
    const response = await upload({ file: whole.subarray(0, whole.length / 2) });
    expect([...statusAndCode(response), envelopeSuccess(response)]).toEqual([422, "image_undecodable", false]);
  });

  it("[UPL-014] does not come as JSON", async () => {
    const response = await suite.caller.post("/upload", { file: "x" });
    expect([...statusAndCode(response), envelopeSuccess(response)]).toEqual([415, "unsupported_media_type", false]);
  });

  it("[UPL-015] that is rejected returns the upload's own error shape, whatever the reason", async () => {
    const tiny = await drawScene(16, 8);
    const refusals: ApiResponse[] = [
      await suite.caller.post("/upload", suite.form({})),
      await upload({ file: Buffer.from("words") }),
      await upload({ file: tiny }),
      await upload({ parent_id: UNKNOWN_ID }),
      await upload({ parent_id: "nothing" }),
      await upload({ no_such_field: "x" }),
      await upload({}, { authorization: "Bearer wrong" }),
      await upload({}, { "idempotency-key": "" }),
    ];
    expect(new Set(refusals.map(({ status }) => status))).toEqual(new Set([400, 415, 422, 404, 401]));
    for (const response of refusals) {
      expect(envelopeSuccess(response)).toBe(false);
      expect(response.body).toMatchObject({ message: expect.stringMatching(/\S/), code: expect.any(String) });
      expect(response.body.details).toEqual(expect.any(Object));
    }
  });

  it("[UPL-016] is a source for later operations, and their parent", async () => {
    const { run_id } = (await upload()).body.data;
    const { body } = await suite.caller.post("/edits/extract", { run_id, prompt: "the red circle", sync: true });
    expect(body).toMatchObject({ status: "completed", parent_run_id: run_id });
  });
});

describe("the layers of a run", () => {
  it("[LAY-001] [LAY-002] [LAY-003] [LAY-004] are ordered from the source of an edit to its result", async () => {
    const { body: run } = await suite.caller.post("/edits/flux-kontext", {
      ...{ original_run_id: source, prompt: "make it night", model: "flux-kontext-max", sync: true },
    });
    const { status, body } = await suite.caller.get(`/runs/${run.run_id}/layers`);
    expect(status).toBe(200);
    const layers: any[] = body.data.layers;
    for (const layer of layers) {
      for (const field of ["id", "run_id", "name", "image_url"]) expect(layer[field]).toMatch(/\S/);
      for (const field of ["x", "y", "width", "height", "z_index", "opacity"])
        expect(layer[field]).toBeTypeOf("number");
      expect(layer.visible).toBeTypeOf("boolean");
      expect(["source", "background", "object", "mask", "result"]).toContain(layer.kind);
    }
    const upward = layers.toSorted((one, other) => one.z_index - other.z_index);
    expect([upward[0].kind, upward.at(-1).kind]).toEqual(["source", "result"]);
    expect([upward[0].run_id, upward.at(-1).run_id]).toEqual([source, run.run_id]);
    expect(await download(upward.at(-1).image_url)).toEqual(await download(run.image_url));
  });
});

describe("enhancing a prompt", () => {
  const enhance = (body: object) => suite.caller.post("/prompts/enhance", body);

  it("[PRM-001] [PRM-002] returns the provider's better prompt beside the original one", async () => {
    const prompt = "a cat, naïve 🐈";
    const { status, body } = await enhance({ prompt, sync: true });
    expect(status).toBe(200);
    expect(body).toMatchObject({ prompt, model_type: "flux-dev", run_id: expect.any(String) });
    const job = await findSandboxJob(suite, body.run_id);
    expect(job.request.prompt).toBe(prompt);
    const { data } = (await (await callSandbox(suite, `/v1/jobs/${job.id}`)).json()) as any;
    expect([body.enhanced_prompt, body.changes]).toEqual([data.enhanced_prompt, data.changes]);
    expect(body.enhanced_prompt).toMatch(/\S/);
    expect(body.enhanced_prompt).not.toBe(prompt);
  });

  it("[PRM-003] is a run without a parent", async () => {
    const { body } = await enhance({ prompt: "a cat" });
    expect(await read(body.run_id)).toMatchObject({ run_type: "prompt-enhancement", parent_run_id: null });
  });

  it("[PRM-004] needs a prompt", async () => {
    const response = await enhance({ style: "ink" });
    expect([...statusAndCode(response), ...fieldErrors(response)]).toEqual([
      400,
      "validation_error",
      "/prompt required",
    ]);
  });

  it("[PRM-005] accepts model_type, style, language and seed, and shows them", async () => {
    const input = { prompt: "a cat", model_type: "nanobanana", style: "watercolour", language: "de", seed: 7 };
    const { status, body } = await enhance({ ...input, sync: true });
    expect([status, body.model_type]).toEqual([200, "nanobanana"]);
    expect((await read(body.run_id)).inputs).toMatchObject(input);
  });
});

describe("the prompt library", () => {
  const draft = { name: "Harbour", text: "a harbour at dusk", tags: ["sea"] };

  it("[PRM-006] [PRM-009] gives a prompt back until it is deleted", async () => {
    const { body: made } = await suite.caller.post("/prompts", draft);
    expect((await suite.caller.get(`/prompts/${made.id}`)).body).toEqual({ ...made, ...draft });
    const listed = async () => (await suite.caller.get("/prompts?limit=100")).body.data.map((each: any) => each.id);
    expect(await listed()).toContain(made.id);
    expect((await suite.caller.delete(`/prompts/${made.id}`)).status).toBe(200);
    expect(statusAndCode(await suite.caller.get(`/prompts/${made.id}`))).toEqual([404, "prompt_not_found"]);
    expect(await listed()).not.toContain(made.id);
  });

  it("[PRM-011] is built: none of its operations is a stub", async () => {
    const created = await suite.caller.post("/prompts", draft);
    const path = `/api/v1/prompts/${created.body.id}`;
    const responses = [
      created,
      await suite.caller.get("/prompts"),
      await suite.caller.send("GET", path),
      await suite.caller.send("PATCH", path, { body: { text: "a harbour at dawn" } }),
      await suite.caller.send("DELETE", path),
    ];
    expect(responses.map(({ status }) => status)).toEqual([201, 200, 200, 200, 200]);
  });
});

describe("the list of runs", () => {
  const list = async (query: string): Promise<any[]> => (await suite.caller.get(`/runs?limit=100${query}`)).body.data;
  const ids = (runs: any[]) => runs.map((run) => run.run_id);

  it("is newest first, with a cursor or null", async () => {
    const made = [await suite.uploadImage(), await suite.uploadImage(), await suite.uploadImage()];
    const { status, body } = await suite.caller.get("/runs?limit=3");
    expect(status).toBe(200);
    expect(ids(body.data)).toEqual(made.toReversed());
    expect(body.next_cursor).toMatch(/\S/);
    const times = (await list("")).map((run) => run.created_at);
    expect(times).toEqual(times.toSorted().toReversed());
  });

  it("[RUN-025] [RUN-026] can be paged through, each run once, while others are created", async () => {
    const before = ids(await list(""));
    expect(before.length).toBeGreaterThan(15);
    const seen: string[] = [];
    let path = "/runs?limit=3";
    for (;;) {
      const { body, headers } = await suite.caller.get(path);
      seen.push(...ids(body.data));
      const next = /<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
      expect(next !== undefined).toBe(body.next_cursor !== null);
      if (body.next_cursor === null) break;
      expect(new URL(next!, suite.environment.url).searchParams.get("cursor")).toBe(body.next_cursor);
      path = `/runs?limit=3&cursor=${body.next_cursor}`;
      await suite.uploadImage();
    }
    expect(seen).toEqual(before);
  });

  it("[RUN-027] is narrowed by status, run_type, parent_run_id and created_after", async () => {
    const { body } = await suite.caller.generate({ prompt: "[sandbox:fail,delay=0] x", width: 64, height: 64 });
    const failed = await suite.caller.waitUntilEnded(body.run_id);
    const child = await suite.uploadImage(undefined, { parent_id: source });
    const all = await list("");
    const narrowed: [query: string, fits: (run: any) => boolean, one: string][] = [
      ["&status=failed", (run) => run.status === "failed", failed.run_id],
      ["&run_type=image-generation", (run) => run.run_type === "image-generation", failed.run_id],
      [`&parent_run_id=${source}`, (run) => run.parent_run_id === source, child],
      [`&created_after=${failed.created_at}`, (run) => run.created_at > failed.created_at, child],
    ];
    for (const [query, fits, one] of narrowed) {
      const found = ids(await list(query));
      expect(found).toEqual(ids(all.filter(fits)));
      expect(found).toContain(one);
      expect(found.length).toBeLessThan(all.length);
    }
  });

  it("accepts only the cursors that it issued for these filters", async () => {
    const { next_cursor } = (await suite.caller.get("/runs?limit=2&run_type=upload")).body;
    const changed = `${next_cursor.slice(0, 10)}${next_cursor[10] === "A" ? "B" : "A"}${next_cursor.slice(11)}`;
    for (const query of [`cursor=${changed}&run_type=upload`, `cursor=${next_cursor}`, "cursor=x"]) {
      expect(statusAndCode(await suite.caller.get(`/runs?limit=2&${query}`))).toEqual([400, "invalid_cursor"]);
    }
    expect((await suite.caller.get(`/runs?limit=2&run_type=upload&cursor=${next_cursor}`)).status).toBe(200);
  });
});
