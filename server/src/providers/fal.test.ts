// The adapter of fal against a fal on a real socket: one request for a job, and how it can be stopped and asked about.

import { describe, expect, it } from "vitest";
import { bytesOf, catchFault, useFalHarness } from "../../test/fake-vendors/fal/harness.ts";
import { createFakeProviderContext } from "../../test/fake-vendors/provider-context.ts";
import { createSampleJob } from "../../test/fake-vendors/sample-jobs.ts";
import { until } from "../../test/support/until.ts";
import { unsentRequest } from "../runtime/unsent-request.ts";
import { canServe } from "./adjust-parameters.ts";
import { fal } from "./fal.ts";
import type { Offer, SendRequest } from "./provider.ts";

const { vendor, env, contextOf, submit, submitTo, finish, listening } = useFalHarness();

describe("every offer", () => {
  const named = fal.offers.map((offer): [string, Offer] => [
    `${offer.task} ${offer.model} ${offer.upstreamModel}`,
    offer,
  ]);

  it.each(named)("%s sends one request that fal accepts, and reads its result", async (_, offer) => {
    const sent = await submitTo(offer);
    const done = await finish(sent);
    expect(vendor().invalidRequests).toEqual([]);
    expect(vendor().ledger.map(({ model }) => model)).toEqual([offer.upstreamModel]);
    const isWords = offer.task === "image.describe" || offer.task === "prompt.enhance";
    if (isWords) expect(done.data).toBeDefined();
    else expect((await bytesOf(done.outputs[0])).length).toBeGreaterThan(50);
  });

  const selectable = named.filter(([, { lifecycle }]) => lifecycle?.state !== "retired");
  it.each(selectable)("%s is the only one for its jobs, except for failover offers", (_, offer) => {
    const job = createSampleJob(offer);
    const able = fal.offers.filter(
      (each) => each.model === offer.model && canServe(each, job) && each.preference === offer.preference,
    );
    expect(able).toEqual([offer]);
  });
});

it.each([
  ["openai/gpt-image-2.5/flare/text-to-image", { dollar: 0.0364 }],
  ["fal-ai/flux/dev", undefined],
])("the units that fal bills for %s are dollars only where it bills tokens", async (upstreamModel, usage) => {
  expect((await finish(await submit(upstreamModel))).usage).toEqual(usage);
});

describe("a submission", () => {
  it("is sent once, with the key, and asks fal not to retry", async () => {
    const { heard, context } = listening();
    const ticket = await submit("fal-ai/flux-pro/kontext/max/text-to-image", {}, context);
    expect(heard).toHaveLength(1);
    expect(heard[0]!.headers).toMatchObject({ authorization: `Key ${env().FAL_KEY}`, "x-fal-no-retry": "1" });
    expect(heard[0]!.url).not.toContain("fal_webhook");
    expect(ticket).toEqual({
      id: vendor().ledger[0]!.id,
      upstreamModel: "fal-ai/flux-pro/kontext/max/text-to-image",
      task: "image.generate",
    });
    expect(JSON.stringify(ticket)).not.toContain("secret");
  });

  it.each([
    [true, undefined],
    [false, "0"],
  ])(
    "of every offer asks fal to delete the files after a day and, if the operator wants it, to keep no requests: keep %s",
    async (FAL_KEEP_REQUESTS, expected) => {
      const { heard, context } = listening();
      const own = { ...context, env: { ...(context.env as object), FAL_KEEP_REQUESTS } };
      for (const offer of fal.offers) await submitTo(offer, {}, own);
      expect(heard).toHaveLength(fal.offers.length);
      for (const { headers } of heard) {
        expect(headers["x-fal-store-io"]).toBe(expected);
        expect(headers["x-fal-object-lifecycle-preference"]).toBe('{"expiration_duration_seconds":86400}');
      }
    },
  );

  it.each([
    [401, "model_unavailable", "refused"],
    [402, "model_unavailable", "refused"],
    [403, "model_unavailable", "refused"],
    [404, "model_unavailable", "refused"],
    [422, "provider_rejected_input", "refused"],
    [429, "provider_error", "busy"],
    [500, "provider_error", "unknown"],
    [504, "provider_error", "unknown"],
  ])("with response %i is %s and %s", async (status, code, kind) => {
    vendor().switches.refuse = { times: 1, status };
    expect(await catchFault(submit("fal-ai/flux/dev"))).toMatchObject({ code, kind });
    expect(vendor().ledger).toEqual([]);
  });

  it("that fal refuses for its content is content_refused", async () => {
    const body = { detail: [{ loc: ["body", "prompt"], msg: "no", type: "content_policy_violation" }] };
    vendor().switches.refuse = { times: 1, status: 422, body };
    expect(await catchFault(submit("fal-ai/flux/dev"))).toMatchObject({
      code: "content_refused",
      details: { by: "provider" },
    });
  });

  it("whose connection is cut has an unknown outcome", async () => {
    vendor().switches.drop = { times: 1, when: "after" };
    expect(await catchFault(submit("fal-ai/flux/dev"))).toMatchObject({ code: "provider_error", kind: "unknown" });
    expect(vendor().ledger).toHaveLength(1);
  });

  it("of a retired model is model_unavailable, so that failover applies", async () => {
    vendor().switches.retired = ["fal-ai/flux/dev"];
    expect(await catchFault(submit("fal-ai/flux/dev"))).toMatchObject({ code: "model_unavailable", kind: "refused" });
  });

  it("with a LoRA is model_unavailable if no LoRA base URL is set", async () => {
    const { FAL_LORA_BASE_URL: _, ...rest } = env();
    const fault = await catchFault(submit("fal-ai/flux-lora", {}, createFakeProviderContext(rest, fal)));
    expect(fault).toMatchObject({ code: "model_unavailable", kind: "refused" });
    expect(vendor().ledger).toEqual([]);
  });
});

describe("cancel", () => {
  it("stops a running job", async () => {
    vendor().switches.workMs = 5000;
    const ticket = await submit("fal-ai/flux-pro/v1/fill");
    await until(async () => ((await fal.poll(ticket, contextOf())) as { progress?: number }).progress === 0.2);
    expect(await fal.cancel!(ticket, contextOf())).toEqual({ isUncharged: false });
    expect(vendor().ledger[0]!.canceledAt).toBeDefined();
    expect(await catchFault(fal.poll(ticket, contextOf()))).toMatchObject({ kind: "failed" });
  });

  it("is not charged for a job that was still queued", async () => {
    const ticket = await submit("fal-ai/flux/dev");
    const send = async () => ({ status: 200, header: () => undefined, text: '{"status":"OK"}' });
    expect(await fal.cancel!(ticket, contextOf({ send }))).toEqual({ isUncharged: true });
  });

  it("ignores a job that has ended or is unknown", async () => {
    const ticket = await submit("fal-ai/flux/dev");
    await finish(ticket);
    await fal.cancel!(ticket, contextOf());
    await fal.cancel!({ ...ticket, id: "no-such-job" }, contextOf());
  });

  it("fails if fal is unreachable", async () => {
    const ticket = await submit("fal-ai/flux/dev");
    const context = contextOf({ send: () => Promise.reject(unsentRequest("ECONNREFUSED")) });
    expect(await catchFault(fal.cancel!(ticket, context))).toMatchObject({ kind: "unsent" });
  });
});

describe("probe", () => {
  it("finds retired models without creating jobs", async () => {
    expect(await fal.probe!(fal.offers, contextOf())).toMatchObject({ missing: [] });
    vendor().switches.retired = ["fal-ai/imagen4/preview"];
    const { message: says, missing } = await fal.probe!(fal.offers, contextOf());
    expect(missing).toEqual(["fal-ai/imagen4/preview"]);
    expect(says).toMatch(/fal has \d+ of \d+ models/);
    expect(vendor().ledger).toEqual([]);
  });

  it("reports a wrong key", async () => {
    const context = createFakeProviderContext({ ...env(), FAL_KEY: "another" }, fal);
    expect(await catchFault(fal.probe!(fal.offers, context))).toMatchObject({ code: "model_unavailable" });
  });

  it("reads models one by one if fal refuses the list", async () => {
    const send: SendRequest = async (url) => {
      const names = new URL(url).searchParams.getAll("endpoint_id");
      const isKnown = !names.includes("fal-ai/evf-sam");
      const models = names.map((endpoint_id) => ({ endpoint_id }));
      return { status: isKnown ? 200 : 404, header: () => undefined, text: JSON.stringify({ models }) };
    };
    expect((await fal.probe!(fal.offers, contextOf({ send }))).missing).toEqual(["fal-ai/evf-sam"]);
  });
});
