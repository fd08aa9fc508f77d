// The fal adapter with a fake vendor, for its tests: submit, wait for the end, and catch errors.
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach } from "vitest";
import type { Job } from "../../../src/contract/operation.ts";
import type { Fault } from "../../../src/faults/faults.ts";
import { adjustParameters } from "../../../src/providers/adjust-parameters.ts";
import { readProviderFailure } from "../../../src/providers/call-provider.ts";
import { fal } from "../../../src/providers/fal.ts";
import type {
  Asset,
  JobDone,
  Offer,
  ProviderContext,
  ProviderOutput,
  SendRequest,
  Ticket,
} from "../../../src/providers/provider.ts";
import type { FakeVendor } from "../fake-vendor.ts";
import { fakeFal as kit } from "../fal.ts";
import { createFakeProviderContext } from "../provider-context.ts";
import { createSampleJob } from "../sample-jobs.ts";

export const findFalOffer = (upstreamModel: string, task?: string): Offer =>
  fal.offers.find((each) => each.upstreamModel === upstreamModel && (!task || each.task === task))!;

export const bytesOf = async (output: ProviderOutput | undefined) =>
  Buffer.from(await (await fetch((output as { url: string }).url)).arrayBuffer());

export async function catchFault(work: Promise<unknown>) {
  const thrown = (await work.then(
    () => new Error("nothing was thrown"),
    (fault) => fault,
  )) as Fault;
  return { code: thrown.code, kind: readProviderFailure(thrown).kind, details: thrown.details };
}

/** One fake vendor for all tests of a file, reset before each. */
export function useFalHarness() {
  let vendor: FakeVendor;
  beforeAll(async () => {
    vendor = await kit.start();
  });
  afterAll(() => vendor.close());
  beforeEach(() => {
    Object.assign(vendor.switches, { outcome: "done", workMs: 0, refuse: undefined, drop: undefined, retired: [] });
    vendor.ledger.length = 0;
    vendor.invalidRequests.length = 0;
  });

  const env = () => kit.env(vendor);
  const contextOf = (overrides: Partial<ProviderContext<unknown>> = {}) =>
    createFakeProviderContext(env(), fal, overrides);
  const submitTo = async (offer: Offer, job: Partial<Job<Asset>> = {}, context = contextOf()): Promise<Ticket> => {
    const sent = await fal.submit(adjustParameters(createSampleJob(offer, job), offer).job, offer, context);
    if (sent.state !== "running") throw new Error("fal has a queue");
    return sent.ticket;
  };
  return {
    vendor: () => vendor,
    env,
    contextOf,
    submitTo,
    submit: (upstreamModel: string, job: Partial<Job<Asset>> = {}, context = contextOf()) =>
      submitTo(findFalOffer(upstreamModel), job, context),
    async finish(ticket: Ticket, context = contextOf()): Promise<JobDone> {
      for (;;) {
        const progress = await fal.poll(ticket, context);
        if (progress.state === "done") return progress;
        await pause(10);
      }
    },
    /** A context that writes down what it sends. */
    listening() {
      const received: { url: string; headers: Record<string, string> }[] = [];
      const plain = contextOf();
      const send: SendRequest = (url, request) => {
        received.push({ url, headers: request.headers });
        return plain.send(url, request);
      };
      return { heard: received, context: { ...plain, send } };
    },
  };
}
