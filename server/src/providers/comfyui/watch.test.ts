// The lines to the servers: what is heard of a job, in which order, and when listening ends by itself.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakeComfyui, poolEnv, startFakePool } from "../../../test/fake-vendors/comfyui.ts";
import { createFakeProviderContext } from "../../../test/fake-vendors/provider-context.ts";
import { createSampleJob } from "../../../test/fake-vendors/sample-jobs.ts";
import { openProviderWebSocket } from "../../outbound/provider-websocket.ts";
import { comfyui } from "../comfyui.ts";
import type { JobNotification, Ticket } from "../provider.ts";

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

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
async function until(isTrue: () => boolean, ms = 5000) {
  for (const end = Date.now() + ms; !isTrue(); await pause(10))
    if (Date.now() > end) throw new Error("it did not happen");
}
const settings = (more = {}) => ({ ...poolEnv(boxes), ...more });
const watch = (more = {}) =>
  comfyui.watch!(comfyui.env.parse(settings(more)), {
    onNotification: (news) => void heard.push(news),
    openWebSocket: openProviderWebSocket,
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

describe("what is heard", () => {
  it("is how far a job is, and then its end, when its result can be read", async () => {
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

  it("never goes back where a job has two halves", async () => {
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

  it("is the end of a job that failed too", async () => {
    void watch();
    await until(() => lines() === 2);
    for (const box of boxes) box.switches.outcome = "failed";
    const ticket = await submit("flux-dev");
    await until(() => isEnded(ticket));
  });

  it("is nothing of images, of others' jobs and of noise", async () => {
    void watch();
    await until(() => lines() === 2);
    for (const box of boxes) box.preview(Buffer.from("not a picture"));
    const graph = {
      a: { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
      save: { class_type: "SaveImage", inputs: { images: ["a", 0], filename_prefix: "x" } },
    };
    const body = JSON.stringify({ prompt: graph, client_id: "somebody" });
    await fetch(`${boxes[0]!.url}/prompt`, { method: "POST", body });
    await pause(200);
    expect(heard).toEqual([]);
  });

  it("needs the token where the servers ask for one", async () => {
    await Promise.all(boxes.map((box) => box.close()));
    boxes = await startFakePool(2, { token: "secret" });
    void watch({ COMFYUI_TOKEN: "secret" });
    await until(() => lines() === 2);
    const ticket = await submit("flux-dev", { COMFYUI_TOKEN: "secret" });
    await until(() => isEnded(ticket));
  });
});

describe("listening ends", () => {
  it("with its signal, and leaves no line open", async () => {
    const watching = watch();
    await until(() => lines() === 2);
    line.abort();
    await watching;
    await until(() => lines() === 0);
  });

  it("at once where the signal came before", async () => {
    line.abort();
    await watch();
    expect(lines()).toBe(0);
  });

  it("when a line breaks, and can be begun again", async () => {
    const watching = watch();
    await until(() => lines() === 2);
    await boxes[1]!.stopListening();
    await watching;
    await until(() => boxes[0]!.lines() === 0);
    await boxes[1]!.startListening();
    void watch();
    await until(() => lines() === 2);
  });

  it("a while after a server could not be reached; until then the others are heard", async () => {
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
