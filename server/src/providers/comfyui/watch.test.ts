// The lines to the servers: what is heard of a job, in which order, and when listening ends by itself.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakeComfyui, poolEnv, startFakePool } from "../../../test/fake-vendors/comfyui.ts";
import { createFakeProviderContext } from "../../../test/fake-vendors/provider-context.ts";
import { createSampleJob } from "../../../test/fake-vendors/sample-jobs.ts";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import { until } from "../../../test/support/until.ts";
import { openProviderWebSocket } from "../../outbound/outbound-http.ts";
import { systemClock } from "../../runtime/system-clock.ts";
import { comfyui } from "../comfyui.ts";
import type { JobNotification, Ticket } from "../provider.ts";
import { ComfyuiEnv } from "./pool.ts";
import { watchServers } from "./watch.ts";

let boxes: FakeComfyui[];
let heard: JobNotification[] = [];
let line: AbortController;
beforeEach(async () => {
  boxes = await startFakePool(2);
  heard = [];
  line = new AbortController();
});
afterEach(async () => {
  line.abort();
  await Promise.all(boxes.map((box) => box.close()));
});

const settings = (more = {}) => ({ ...poolEnv(boxes), ...more });
const watch = (more = {}) =>
  comfyui.watch!(comfyui.env.parse(settings(more)), {
    onNotification: (news) => void heard.push(news),
    openWebSocket: openProviderWebSocket,
    clock: systemClock,
    signal: line.signal,
  });
const lines = () => boxes.reduce((sum, box) => sum + box.lines(), 0);
let number = 0;
const submit = async (upstreamModel: string, more = {}): Promise<Ticket> => {
  const offer = comfyui.offers.find((each) => each.upstreamModel === upstreamModel)!;
  const context = createFakeProviderContext(settings(more), comfyui, { key: `watch.0.${++number}` });
  const progress = await comfyui.submit(createSampleJob(offer, { width: 64, height: 64 }), offer, context);
  return (progress as { ticket: Ticket }).ticket;
};
const about = ({ prompt_id }: Ticket) => heard.filter(({ value }) => value === prompt_id);
const isEnded = (ticket: Ticket) => about(ticket).some(({ ended }) => ended);

describe("a notification", () => {
  it("reports progress and then the end, when the result can be read", async () => {
    void watch();
    await until(() => lines() === 2);
    for (const box of boxes) box.switches.workMs = 800;
    const ticket = await submit("flux-dev");
    await until(() => isEnded(ticket));
    const done = await comfyui.poll(ticket, createFakeProviderContext(settings(), comfyui));
    expect(done.state).toBe("done");
    const progress = about(ticket).flatMap((news) => news.progress ?? []);
    expect(progress.length).toBeGreaterThan(1);
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
    expect(progress.every((each) => each >= 0.1 && each <= 0.9)).toBe(true);
    expect(new Set(progress).size).toBe(progress.length);
    expect(about(ticket).filter(({ ended }) => ended)).toEqual([
      { name: "prompt_id", value: ticket.prompt_id, ended: true },
    ]);
  });

  it("never reports less progress than before, also for a job of two stages", async () => {
    void watch();
    await until(() => lines() === 2);
    for (const box of boxes) box.switches.workMs = 800;
    const ticket = await submit("wan-image-2.2");
    await until(() => isEnded(ticket));
    const progress = about(ticket).flatMap((news) => news.progress ?? []);
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
    expect(Math.min(...progress)).toBeLessThan(0.5);
    expect(Math.max(...progress)).toBeGreaterThan(0.5);
  });

  it("reports the end of a failed job", async () => {
    void watch();
    await until(() => lines() === 2);
    for (const box of boxes) box.switches.outcome = "failed";
    const ticket = await submit("flux-dev");
    await until(() => isEnded(ticket));
  });

  it("is not sent for preview images, jobs of other clients or unknown messages", async () => {
    void watch();
    await until(() => lines() === 2);
    for (const box of boxes) box.preview(Buffer.from("not a picture"));
    const graph = {
      a: { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
      save: { class_type: "SaveImage", inputs: { images: ["a", 0], filename_prefix: "x" } },
    };
    const body = JSON.stringify({ prompt: graph, client_id: "somebody" });
    await fetch(`${boxes[0]!.url}/prompt`, { method: "POST", body });
    // A server runs its jobs in order, so the job of the other client has ended when a later one has.
    const own: Ticket[] = [];
    while (own.at(-1)?.server !== boxes[0]!.url) own.push(await submit("flux-dev"));
    await until(() => own.every(isEnded));
    const ids = own.map(({ prompt_id }) => prompt_id);
    expect(heard.filter(({ value }) => !ids.includes(value))).toEqual([]);
  });

  it("needs the token if the servers require one", async () => {
    await Promise.all(boxes.map((box) => box.close()));
    boxes = await startFakePool(2, { token: "secret" });
    void watch({ COMFYUI_TOKEN: "secret" });
    await until(() => lines() === 2);
    const ticket = await submit("flux-dev", { COMFYUI_TOKEN: "secret" });
    await until(() => isEnded(ticket));
  });
});

describe("an older connection that closes later", () => {
  it("does not silence the newer one for longer than the allowed silence", async () => {
    const older = new AbortController();
    const channel = {
      onNotification: () => {},
      openWebSocket: openProviderWebSocket,
      clock: systemClock,
      signal: older.signal,
    };
    const env = ComfyuiEnv.parse(settings());
    const watchingOlder = comfyui.watch!(env, channel);
    await until(() => lines() === 2);
    const news = { ...channel, onNotification: (each: JobNotification) => void heard.push(each), signal: line.signal };
    const clock = createManualClock();
    let opened = 0;
    const openWebSocket = (...request: Parameters<typeof openProviderWebSocket>) => {
      const socket = openProviderWebSocket(...request);
      socket.addEventListener("open", () => opened++);
      return socket;
    };
    const watching = watchServers(env, { ...news, clock, openWebSocket });
    await until(() => opened === 2);
    older.abort();
    await watchingOlder;
    await until(() => lines() === 0);
    // The connection is open, and nothing comes over it: the watch ends, and the next one hears again.
    await clock.advance(60_000);
    await watching;
    void watchServers(env, news);
    await until(() => lines() === 2);
    const ticket = await submit("flux-dev");
    await until(() => isEnded(ticket));
  });
});

describe("watching ends", () => {
  it("with its signal, and closes all connections", async () => {
    const watching = watch();
    await until(() => lines() === 2);
    line.abort();
    await watching;
    await until(() => lines() === 0);
  });

  it("immediately if the signal was aborted before", async () => {
    line.abort();
    await watch();
    expect(lines()).toBe(0);
  });

  it("when a connection breaks, and can be started again", async () => {
    const watching = watch();
    await until(() => lines() === 2);
    await boxes[1]!.stopListening();
    await watching;
    await until(() => boxes[0]!.lines() === 0);
    await boxes[1]!.startListening();
    void watch();
    await until(() => lines() === 2);
  });

  it("some time after a server became unreachable; until then the other servers are watched", async () => {
    await boxes[1]!.stopListening();
    const began = Date.now();
    const watching = watch();
    await until(() => boxes[0]!.lines() === 1);
    const ticket = await submit("flux-dev");
    await until(() => isEnded(ticket));
    await watching;
    expect(Date.now() - began).toBeGreaterThan(4000);
  });
});
