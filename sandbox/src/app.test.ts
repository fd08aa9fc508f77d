// The HTTP API of the sandbox: authentication, validation, and the life of an ordinary job.
import { describe, expect, test } from "vitest";
import { startSandboxHarness } from "../test/sandbox-harness.ts";

test("a job is accepted, runs and returns an image at an absolute URL", async () => {
  const rig = await startSandboxHarness();
  const { status, body } = await rig.post({ width: 64, height: 48, count: 2, prompt: "a hill [sandbox:delay=1]" });
  expect(status).toBe(202);
  expect(body).toEqual({ id: expect.any(String), status: "queued", progress: 0, created_at: expect.any(String) });
  const running = await rig.call("GET", `/v1/jobs/${body.id}`);
  expect(running.body).toMatchObject({ status: "running", outputs: [], error: null, finished_at: null });
  const job = await rig.waitUntilEnded(body.id);
  expect(job).toMatchObject({ status: "succeeded", progress: 1, error: null, finished_at: expect.any(String) });
  const output = { media_type: "image/png", width: 64, height: 48 };
  expect(job.outputs).toEqual([
    { url: `${rig.url()}/v1/files/${body.id}/0.png`, ...output },
    { url: `${rig.url()}/v1/files/${body.id}/1.png`, ...output },
  ]);
});

test("health needs no key", async () => {
  const rig = await startSandboxHarness();
  const response = await fetch(`${rig.url()}/v1/health`);
  expect(await response.json()).toEqual({ status: "ok" });
});

describe("401", () => {
  test.each(["/v1/jobs/x", "/v1/jobs?reference=x", "/v1/ledger", "/v1/behaviour"])(
    "without the key at %s",
    async (path) => {
      const rig = await startSandboxHarness();
      const bare = await fetch(rig.url() + path);
      expect(bare.status).toBe(401);
      expect(await bare.json()).toEqual({ error: { code: "unauthorized", message: expect.any(String) } });
      const wrong = await rig.call("GET", path, undefined, { authorization: "Bearer other" });
      expect(wrong.status).toBe(401);
    },
  );
});

describe("404", () => {
  test("for a job, a file and a route that do not exist", async () => {
    const rig = await startSandboxHarness();
    expect((await rig.call("GET", "/v1/jobs/job_0")).status).toBe(404);
    expect((await rig.call("POST", "/v1/jobs/job_0/cancel")).status).toBe(404);
    expect((await rig.call("GET", "/v1/files/job_0/0.png")).status).toBe(404);
    expect((await rig.call("GET", "/v1/other")).body.error.code).toBe("not_found");
  });
});

describe("422", () => {
  test.each([
    ["an unknown field", { colour: "red" }],
    ["a missing model", { model: undefined }],
    ["an unknown task", { task: "image.dance" }],
    ["a missing prompt", { prompt: undefined }],
    ["a side that is too small", { width: 15 }],
    ["a side that is too large", { height: 2049 }],
    ["too many images", { count: 5 }],
    ["a malformed aspect ratio", { aspect_ratio: "wide" }],
    ["an image that is neither address nor bytes", { images: [{ file: "x" }] }],
    ["a callback that is no web address", { callback_url: "ftp://x" }],
    ["a misspelt directive", { prompt: "[sandbox:dealy=1]" }],
    ["a directive with a wrong value", { prompt: "[sandbox:delay=soon]" }],
  ])("for %s", async (_, fields) => {
    const rig = await startSandboxHarness();
    const { status, body } = await rig.post(fields);
    expect(status).toBe(422);
    expect(body.error.code).toBe("invalid_parameters");
    expect(await rig.ledger()).toEqual([]);
  });

  test("a body that is not JSON returns 400", async () => {
    const rig = await startSandboxHarness();
    expect((await rig.call("POST", "/v1/jobs", "{")).status).toBe(400);
  });

  test("a look-up needs a reference", async () => {
    const rig = await startSandboxHarness();
    expect((await rig.call("GET", "/v1/jobs")).status).toBe(422);
  });
});
