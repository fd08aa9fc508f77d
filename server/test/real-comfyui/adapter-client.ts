// Calls the adapter directly, as a worker does, with servers and graphs of a check.

import { setTimeout as pause } from "node:timers/promises";
import sharp from "sharp";
import type { Job } from "../../src/contract/operation.ts";
import { openProviderWebSocket } from "../../src/outbound/outbound-http.ts";
import { readProviderFailure } from "../../src/providers/call-provider.ts";
import { comfyui } from "../../src/providers/comfyui.ts";
import type { Asset, JobNotification, Offer, ProviderContext, Ticket } from "../../src/providers/provider.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { createFakeProviderContext } from "../fake-vendors/provider-context.ts";
import type { WeightlessGraph } from "./weightless-graphs.ts";

const END_SECONDS = 180;

export type AdapterClient = ReturnType<typeof createAdapterClient>;

export function createAdapterClient(urls: string[], graphs: string) {
  const settings = { COMFYUI_URLS: urls.join(","), COMFYUI_GRAPHS: graphs };
  let number = 0;
  const context = (overrides: Partial<ProviderContext<unknown>> = {}) =>
    createFakeProviderContext(settings, comfyui, {
      key: `check.${process.pid}.${Date.now()}.${++number}`,
      timeoutSeconds: 20,
      ...overrides,
    });
  const offerOf = (graph: WeightlessGraph): Offer => ({ ...comfyui.offers[0]!, upstreamModel: graph });
  /** Another seed each time, because ComfyUI reuses the results of equal nodes. */
  const jobOf = (overrides: Partial<Job<Asset>>): Job<Asset> => ({
    task: "image.generate",
    model: "flux-dev",
    prompt: "nothing",
    width: 96,
    height: 64,
    seed: (Date.now() + ++number) % 0xffffff,
    ...overrides,
  });
  return {
    context,
    offerOf,
    jobOf,
    async submit(graph: WeightlessGraph, overrides: Partial<Job<Asset>> = {}, at = context()): Promise<Ticket> {
      const progress = await comfyui.submit(jobOf(overrides), offerOf(graph), at);
      if (progress.state !== "running") throw new Error("the server responded with a result");
      return progress.ticket;
    },
    poll: (ticket: Ticket, at = context()) => comfyui.poll(ticket, at),
    cancel: (ticket: Ticket) => comfyui.cancel!(ticket, context()),
    async waitForOutputs(ticket: Ticket): Promise<{ url: string }[]> {
      for (const end = Date.now() + END_SECONDS * 1000; Date.now() < end; await pause(200)) {
        const progress = await comfyui.poll(ticket, context());
        if (progress.state === "done") return progress.outputs as { url: string }[];
      }
      throw new Error(`the job did not end within ${END_SECONDS} s`);
    },
    /**
     * The notifications of a job until its end is reported. A server sends them in order and after the previews, so
     * on a slow machine they arrive later than the result.
     */
    async watchJob(work: () => Promise<Ticket>): Promise<JobNotification[]> {
      const received: JobNotification[] = [];
      const end = new AbortController();
      const watching = comfyui.watch!(comfyui.env.parse(settings), {
        onNotification: (notification) => void received.push(notification),
        openWebSocket: openProviderWebSocket,
        clock: systemClock,
        signal: end.signal,
      });
      await pause(1000);
      const { prompt_id } = await work();
      const own = () => received.filter(({ value }) => value === prompt_id);
      for (const late = Date.now() + 60_000; Date.now() < late && !own().some(({ ended }) => ended); ) await pause(100);
      end.abort();
      await watching;
      return own();
    },
  };
}

/** The state of a job on its own server: `pending`, `running`, or where else the queue does not have it. */
export async function readQueueState({ prompt_id, server }: Ticket): Promise<"pending" | "running" | "absent"> {
  type Queue = Record<"queue_running" | "queue_pending", unknown[][]>;
  const queue = (await (await fetch(`${server}/queue`)).json()) as Queue;
  const isIn = (entries: unknown[][]) => entries.some((entry) => entry[1] === prompt_id);
  if (isIn(queue.queue_running)) return "running";
  return isIn(queue.queue_pending) ? "pending" : "absent";
}

export async function waitForQueueState(ticket: Ticket, wanted: "running" | "absent"): Promise<void> {
  for (const end = Date.now() + END_SECONDS * 1000; Date.now() < end; await pause(50))
    if ((await readQueueState(ticket)) === wanted) return;
  throw new Error(`the job was not ${wanted} within ${END_SECONDS} s`);
}

/** The failure of a call as code, kind and details, or `none`. */
export const describeFailure = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "none",
    (thrown) => `${thrown.code} ${readProviderFailure(thrown).kind} ${JSON.stringify(thrown.details ?? {})}`,
  );

/** Size, format and mean colour of each result, downloaded from its server. */
export const describeImages = (outputs: { url: string }[]): Promise<string[]> =>
  Promise.all(
    outputs.map(async ({ url }) => {
      const image = sharp(Buffer.from(await (await fetch(url)).arrayBuffer()));
      const { width, height, format } = await image.metadata();
      const { channels } = await image.stats();
      return `${width}x${height} ${format} ${channels.slice(0, 3).map(({ mean }) => Math.round(mean / 2) * 2)}`;
    }),
  );
