// The adapter of fal with a stand-in before it, as its tests use it: submit, wait for the end, and see what was thrown.
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach } from "vitest";
import type { Fault } from "../../../src/faults.ts";
import type { Job } from "../../../src/kit/operation.ts";
import { fal } from "../../../src/providers/fal.ts";
import { failureOf } from "../../../src/providers/http.ts";
import type { Asset, Context, Done, Offer, Output, Send, Ticket } from "../../../src/providers/provider.ts";
import { contextFor } from "../context.ts";
import { fal as kit } from "../fal.ts";
import { jobFor } from "../jobs.ts";
import type { StandIn } from "../stand-in.ts";

export const offerOf = (as: string, task?: string): Offer =>
  fal.offers.find((each) => each.as === as && (!task || each.task === task))!;

export const bytesOf = async (output: Output | undefined) =>
  Buffer.from(await (await fetch((output as { url: string }).url)).arrayBuffer());

export async function faultOf(work: Promise<unknown>) {
  const thrown = (await work.then(
    () => new Error("nothing was thrown"),
    (fault) => fault,
  )) as Fault;
  return { code: thrown.code, kind: failureOf(thrown).kind, details: thrown.details };
}

/** A stand-in for all tests of a file; each of them finds it as new. */
export function useRig() {
  let vendor: StandIn;
  beforeAll(async () => {
    vendor = await kit.start();
  });
  afterAll(() => vendor.close());
  beforeEach(() => {
    Object.assign(vendor.switches, { outcome: "done", workMs: 0, refuse: undefined, drop: undefined, retired: [] });
    vendor.ledger.length = 0;
    vendor.complaints.length = 0;
  });

  const env = () => kit.env(vendor);
  const contextOf = (overrides: Partial<Context<unknown>> = {}) => contextFor(env(), fal, overrides);
  const submitTo = async (offer: Offer, job: Partial<Job<Asset>> = {}, context = contextOf()): Promise<Ticket> => {
    const sent = await fal.submit(jobFor(offer, job), offer, context);
    if (sent.state !== "running") throw new Error("fal has a queue");
    return sent.ticket;
  };
  return {
    vendor: () => vendor,
    env,
    contextOf,
    submitTo,
    submit: (as: string, job: Partial<Job<Asset>> = {}, context = contextOf()) => submitTo(offerOf(as), job, context),
    async finish(ticket: Ticket, context = contextOf()): Promise<Done> {
      for (;;) {
        const progress = await fal.check(ticket, context);
        if (progress.state === "done") return progress;
        await pause(10);
      }
    },
    /** A context that writes down what it sends. */
    listening() {
      const heard: { url: string; headers: Record<string, string> }[] = [];
      const plain = contextOf();
      const send: Send = (url, request) => {
        heard.push({ url, headers: request.headers });
        return plain.send(url, request);
      };
      return { heard, context: { ...plain, send } };
    },
  };
}
