// What fal's answers about a job mean: its own words for running, done, failed, refused and lost.

import { describe, expect, it } from "vitest";
import { catchFault, useFalHarness } from "../../../test/fake-vendors/fal/harness.ts";
import { until } from "../../../test/support/until.ts";
import { fal } from "../fal.ts";
import type { ProviderContext, SendRequest } from "../provider.ts";

const { vendor, contextOf, submit, finish } = useFalHarness();

describe("a poll", () => {
  const ticket = { id: "1", upstreamModel: "fal-ai/flux/dev", task: "image.generate" };

  it("reports a running job", async () => {
    vendor().switches.outcome = "never";
    const ticket = await submit("fal-ai/flux/dev");
    // A job is queued at first, with less progress.
    await until(async () => ((await fal.poll(ticket, contextOf())) as { progress?: number }).progress !== 0.1);
    expect(await fal.poll(ticket, contextOf())).toEqual({ state: "running", ticket, progress: 0.2 });
  });

  it.each([
    [0, 0.1],
    [9, 0.01],
  ])("reports a job at queue position %i", async (queue_position, progress) => {
    const text = JSON.stringify({ status: "IN_QUEUE", queue_position });
    const context = contextOf({ send: async () => ({ status: 202, header: () => undefined, text }) });
    expect(await fal.poll(ticket, context)).toEqual({ state: "running", ticket, progress });
  });

  it.each([
    ["fal-ai/flux/dev", "with a black image and a flag"],
    ["fal-ai/gpt-image-1.5", "with a status of its own"],
  ])("reports content that %s refused %s", async (upstreamModel) => {
    const ticket = await submit(upstreamModel, { prompt: "something forbidden" });
    expect(await catchFault(finish(ticket))).toMatchObject({ code: "content_refused", kind: "refused" });
  });

  it("returns only the unflagged images", async () => {
    const ticket = await submit("fal-ai/flux/dev", { count: 2 });
    const plain = contextOf();
    const send: SendRequest = async (url, request) => {
      const answer = await plain.send(url, request);
      return {
        ...answer,
        text: answer.text.replace('"has_nsfw_concepts":[false]', '"has_nsfw_concepts":[true,false]'),
      };
    };
    expect((await finish(ticket, { ...plain, send })).outputs).toHaveLength(1);
  });

  it("reports a failure although the job is COMPLETED", async () => {
    vendor().switches.outcome = "failed";
    const ticket = await submit("fal-ai/flux/dev");
    expect(await catchFault(finish(ticket))).toMatchObject({ code: "provider_error", kind: "failed" });
  });

  it("is done without a mask if no object was found", async () => {
    const ticket = await submit("fal-ai/sam-3/image", { prompt: "a unicorn" });
    expect(await finish(ticket)).toEqual({ state: "done", outputs: [] });
  });

  it("returns masks with their score and box", async () => {
    const ticket = await submit("fal-ai/sam-3/image", { options: { multiple: true }, count: undefined });
    const { outputs } = await finish(ticket);
    expect(outputs).toMatchObject([
      { score: 0.9, box: { x: 16, y: 16, width: 32, height: 32 } },
      { score: 0.8, box: { x: 0, y: 0, width: 16, height: 64 } },
    ]);
  });

  it("returns text, with the size of the described image", async () => {
    expect((await finish(await submit("fal-ai/moondream3-preview/caption"))).data).toEqual({
      description: "A plain image, said in a normal way.",
      tags: [],
      width: 64,
      height: 64,
    });
    expect((await finish(await submit("openrouter/router"))).data).toEqual({
      enhanced_prompt: "a red bicycle, in soft light",
      changes: [{ kind: "light", added: "in soft light" }],
    });
  });

  it("reports a lost job if fal does not know it any more", async () => {
    const ticket = await submit("fal-ai/flux/dev");
    vendor().forgetJobs();
    expect(await catchFault(fal.poll(ticket, contextOf()))).toMatchObject({ code: "provider_error", kind: "failed" });
  });

  it("that fails leaves the outcome unknown", async () => {
    const text = JSON.stringify({ detail: [{ loc: [], msg: "", type: "internal_server_error" }] });
    const context = contextOf({ send: async () => ({ status: 500, header: () => undefined, text }) });
    expect(await catchFault(fal.poll(ticket, context))).toMatchObject({ code: "provider_error", kind: "unknown" });
  });

  const answering = (status: number, body: unknown): ProviderContext<unknown> => {
    const completed = { status: 200, header: () => undefined, text: JSON.stringify({ status: "COMPLETED" }) };
    const result = { status, header: () => undefined, text: typeof body === "string" ? body : JSON.stringify(body) };
    return contextOf({ send: async (url) => (url.endsWith("/status") ? completed : result) });
  };
  const typed = (type: string) => ({ detail: [{ loc: ["body"], msg: "", type }] });

  it.each<[number, unknown, code: string, kind: string]>([
    [422, typed("content_policy_violation"), "content_refused", "refused"],
    [422, typed("image_too_small"), "provider_rejected_input", "refused"],
    [422, typed("file_download_error"), "provider_rejected_input", "refused"],
    [422, typed("no_media_generated"), "provider_error", "failed"],
    [500, typed("internal_server_error"), "provider_error", "failed"],
    [504, typed("generation_timeout"), "provider_error", "failed"],
    [502, typed("downstream_service_error"), "provider_error", "failed"],
    [503, { detail: "no runner", error_type: "runner_scheduling_failure" }, "provider_error", "gone"],
    [503, { detail: "gone", error_type: "runner_disconnected" }, "provider_error", "gone"],
    [504, { detail: "slow", error_type: "startup_timeout" }, "provider_error", "gone"],
    [504, { detail: "slow", error_type: "request_timeout" }, "provider_error", "failed"],
    [500, { detail: "Internal Server Error" }, "provider_error", "failed"],
    [422, { detail: "the image is broken" }, "provider_rejected_input", "refused"],
    [400, { detail: "Request was cancelled" }, "provider_error", "failed"],
    [404, { detail: "Request not found" }, "provider_error", "failed"],
    [502, "<html>Bad gateway</html>", "provider_error", "unknown"],
    [503, { detail: "try again" }, "provider_error", "unknown"],
    [429, { detail: "too many" }, "provider_error", "busy"],
    [200, { images: [] }, "provider_error", "failed"],
    [200, { output: null, error: "no credits" }, "provider_error", "failed"],
    [200, "{", "provider_error", "unknown"],
  ])("with result %i %j is %s, %s", async (status, body, code, kind) => {
    expect(await catchFault(fal.poll(ticket, answering(status, body)))).toMatchObject({ code, kind });
  });
});
