import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FakeVendor } from "../../../test/fake-vendors/fake-vendor.ts";
import { fakeGemini, fakeGeminiInteractions as kit } from "../../../test/fake-vendors/gemini.ts";
import { createFakeProviderContext } from "../../../test/fake-vendors/provider-context.ts";
import { createImageAsset, createMaskAsset, createSampleJob } from "../../../test/fake-vendors/sample-jobs.ts";
import { until } from "../../../test/support/until.ts";
import { createExchangeChecker } from "../../../test/vendor-contracts/check-exchange.ts";
import type { Job, Task } from "../../contract/operation.ts";
import { Fault } from "../../faults/faults.ts";
import { adjustParameters } from "../adjust-parameters.ts";
import { gemini } from "../gemini.ts";
import type { Asset, JobDone, Offer, ProviderContext, Ticket } from "../provider.ts";

let fakeVendor: FakeVendor;
const problems: string[] = [];
const checker = createExchangeChecker("gemini");
beforeAll(async () => {
  fakeVendor = await kit.start();
});
afterAll(() => fakeVendor.close());
beforeEach(() => {
  fakeVendor.ledger.length = 0;
  Object.assign(fakeVendor.switches, { outcome: "done", workMs: 20, drop: undefined });
  problems.length = 0;
});

const offerFor = (task: Task, model: string): Offer =>
  gemini.offers.find((each) => each.task === task && each.model === model)!;
const MAKE = offerFor("image.generate", "nanobanana");
const EDIT = offerFor("image.edit", "gemini-2.5");

const context = (overrides: Partial<ProviderContext<unknown>> = {}) => {
  const made = createFakeProviderContext(kit.env(fakeVendor), gemini, overrides);
  return { ...made, send: checker.watch(made.send, problems) };
};
const submit = async (job: Job<Asset>, offer: Offer, using = context()) => {
  const sent = await gemini.submit(adjustParameters(job, offer).job, offer, using);
  if (sent.state !== "running") throw new Error("the image was not requested in the background");
  return sent.ticket;
};
async function finish(ticket: Ticket): Promise<JobDone> {
  let progress = await gemini.poll(ticket, context());
  await until(async () => {
    if (progress.state === "running") progress = await gemini.poll(ticket, context());
    return progress.state === "done";
  });
  return progress as JobDone;
}

describe("an image in the background", () => {
  it("is a ticket at once and the image later, in the requested size and with its tokens", async () => {
    const job = createSampleJob(MAKE, { prompt: "a lamp", width: 2048, height: 1152, seed: 7 });
    const { outputs, usage } = await finish(await submit(job, MAKE));
    expect(await sharp((outputs[0] as { bytes: Uint8Array }).bytes).metadata()).toMatchObject({ width: 192 });
    expect(usage).toEqual({ input_token: 20, output_text_token: 30, output_image_token: 1680 });
    expect(fakeVendor.ledger[0]!.request).toMatchObject({
      ...{ said: "a lamp", aspect_ratio: "16:9", image_size: "2K", seed: 7, background: true, store: true },
    });
    expect(problems).toEqual([]);
  });

  it("has images and a mask like one that is waited for", async () => {
    const job = createSampleJob(EDIT, { images: [createImageAsset("one")], mask: createMaskAsset() });
    await finish(await submit(job, EDIT));
    const { said, sources } = fakeVendor.ledger[0]!.request as { said: string; sources: string[] };
    expect(said).toContain("Image 2 is a mask for image 1");
    expect(sources).toHaveLength(2);
    expect(problems).toEqual([]);
  });

  it("can be read by another process that has only the ticket", async () => {
    const ticket = await submit(createSampleJob(MAKE), MAKE);
    expect(Object.values(ticket).every((value) => typeof value === "string")).toBe(true);
    const [first, second] = [await finish(JSON.parse(JSON.stringify(ticket))), await finish(ticket)];
    expect(second).toEqual(first);
    expect(fakeVendor.ledger).toHaveLength(1);
  });

  it("whose submission got no response is found by the event about it, and paid once", async () => {
    fakeVendor.switches.drop = { times: 1, when: "after" };
    await expect(submit(createSampleJob(MAKE), MAKE)).rejects.toThrow(Fault);
    const { id } = fakeVendor.ledger[0]!;
    const body = JSON.stringify({ type: "interaction.completed", version: "v1", data: { id } });
    const status = await gemini.parseCallback!({ headers: new Headers(), body }, context());
    expect(status).toEqual({ ticket: { id }, ended: true });
    expect((await finish(status!.ticket)).outputs).toHaveLength(1);
    expect(fakeVendor.ledger).toHaveLength(1);
  });

  it.each([
    ["moderated", "content_refused"],
    ["failed", "provider_error"],
  ] as const)("that was %s ends as %s", async (outcome, code) => {
    fakeVendor.switches.outcome = outcome;
    const ticket = await submit(createSampleJob(MAKE), MAKE);
    await expect(finish(ticket)).rejects.toMatchObject({ code });
  });

  it("that Google no longer has is a failure, not an endless wait", async () => {
    await expect(gemini.poll({ id: "int_gone" }, context())).rejects.toMatchObject({ code: "provider_error" });
  });
});

it("only images call back, and only if they are requested in the background", () => {
  const describe = offerFor("image.describe", "describe-default");
  const callsBack = (env: Record<string, string>, offer: Offer) => gemini.callsBack!(gemini.env.parse(env), offer);
  expect(callsBack(kit.env(fakeVendor), MAKE)).toBe(true);
  expect(callsBack(kit.env(fakeVendor), describe)).toBe(false);
  expect(callsBack(fakeGemini.env(fakeVendor), MAKE)).toBe(false);
});
