// The fake Luma, tested with Luma's own client.
import { serve } from "@hono/node-server";
import { LumaAI } from "lumaai";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FakeVendor } from "./fake-vendor.ts";
import { fakeLuma } from "./luma.ts";

let fakeVendor: FakeVendor;
beforeAll(async () => {
  fakeVendor = await fakeLuma.start();
});
afterAll(() => fakeVendor.close());
beforeEach(() => {
  Object.assign(fakeVendor.switches, { outcome: "done", workMs: 50, refuse: undefined });
});

const client = (authToken = fakeLuma.env(fakeVendor).LUMA_API_KEY!) =>
  new LumaAI({ authToken, baseURL: fakeLuma.env(fakeVendor).LUMA_BASE_URL!, maxRetries: 0 });

const media = { url: "https://example.com/desk.png" };
const reframe = { generation_type: "reframe_image", model: "photon-flash-1", aspect_ratio: "16:9", media } as const;

async function ended(id: string) {
  for (;;) {
    const generation = await client().generations.get(id);
    if (generation.state === "completed" || generation.state === "failed") return generation;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe("Luma's own client", () => {
  it("reframes an image, waits for it and reads it", async () => {
    const input = { ...reframe, prompt: "more of the room", x_start: -40, x_end: 120, y_start: 0, y_end: 64 };
    const { data, response } = await client().generations.image.reframe(input).withResponse();
    expect(response.status).toBe(201);
    expect(data).toMatchObject({ state: "queued", generation_type: "image", assets: null, request: input });
    const { assets } = await ended(data.id!);
    const image = await fetch(assets!.image!);
    const { width, height, format } = await sharp(Buffer.from(await image.arrayBuffer())).metadata();
    expect([width, height, format]).toEqual([96, 54, "jpeg"]);
  });

  it("creates a video that begins with an image", async () => {
    const { id } = await client().generations.create({
      model: "ray-2",
      prompt: "it moves",
      keyframes: { frame0: { type: "image", url: media.url } },
      duration: "5s",
    });
    const { assets, generation_type } = await ended(id!);
    expect(generation_type).toBe("video");
    expect((await fetch(assets!.video!)).headers.get("content-type")).toBe("video/mp4");
  });

  it("lists requests, the newest first", async () => {
    const [first, second] = [
      await client().generations.image.reframe({ ...reframe, callback_url: "http://127.0.0.1:9/a" }),
      await client().generations.image.reframe({ ...reframe, callback_url: "http://127.0.0.1:9/b" }),
    ];
    const { generations, has_more } = await client().generations.list({ limit: 2, offset: 0 });
    expect(generations.map(({ id }) => id)).toEqual([second?.id, first?.id]);
    expect(generations[0]?.request).toMatchObject({ callback_url: "http://127.0.0.1:9/b" });
    expect(has_more).toBe(true);
  });

  it("deletes a generation, which is then not found", async () => {
    fakeVendor.switches.workMs = 60_000;
    const { id } = await client().generations.image.reframe(reframe);
    await client().generations.delete(id!);
    await expect(client().generations.get(id!)).rejects.toMatchObject({ status: 404 });
  });

  it("reports why a generation failed, and why it was rejected", async () => {
    fakeVendor.switches.outcome = "moderated";
    const { id } = await client().generations.image.reframe(reframe);
    expect(await ended(id!)).toMatchObject({ state: "failed", failure_reason: expect.stringContaining("moderation") });
    await expect(client("wrong").generations.list()).rejects.toMatchObject({ status: 403 });
    const wrong = { ...reframe, aspect_ratio: "5:4" as "16:9" };
    await expect(client().generations.image.reframe(wrong)).rejects.toMatchObject({ status: 422 });
    const nowhere = { ...reframe, media: { url: "http://127.0.0.1:9/desk.png" } };
    await expect(client().generations.image.reframe(nowhere)).rejects.toMatchObject({ status: 400 });
  });

  it("checks availability and the remaining credit", async () => {
    expect(await client().ping.check()).toEqual({ message: "pong" });
    expect(await client().credits.get()).toEqual({ credit_balance: 1250 });
  });
});

it("calls back when it starts and when it ends, also if the response was lost", async () => {
  const reported: string[] = [];
  const server = serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      reported.push(((await request.json()) as { state: string }).state);
      return new Response();
    },
  });
  await new Promise((resolve) => server.once("listening", resolve));
  const callback_url = `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
  fakeVendor.switches.drop = { times: 1, when: "after" };
  await expect(client().generations.image.reframe({ ...reframe, callback_url })).rejects.toThrow();
  await expect.poll(() => reported).toEqual(["dreaming", "completed"]);
  server.close();
});
