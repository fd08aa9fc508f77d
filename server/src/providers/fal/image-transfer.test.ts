// How images travel to fal, and that the key goes nowhere that an answer pointed to.
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { catchFault, useFalHarness } from "../../../test/fake-vendors/fal/harness.ts";
import { createAsset } from "../../../test/fake-vendors/sample-jobs.ts";
import type { SendRequest } from "../provider.ts";

const { vendor, contextOf, submit, listening } = useFalHarness();

describe("an image", () => {
  const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
  const drawn = sharp({ create: { width: 1024, height: 1024, channels: 3, noise } as never })
    .png({ compressionLevel: 0 })
    .toBuffer();
  /** Three megabytes. */
  const heavy = createAsset("heavy", () => drawn);

  it("is inline in the request if it is small", async () => {
    await submit("fal-ai/birefnet/v2");
    expect(vendor().ledger[0]!.request.image_url).toMatch(/^data:image\/png;base64,/);
  });

  it("is uploaded to fal's storage if it is large, without the key", async () => {
    const { heard, context } = listening();
    await submit("fal-ai/birefnet/v2", { images: [heavy] }, context);
    expect(vendor().ledger[0]!.request.image_url).toMatch(/\/stored\//);
    const put = heard.find(({ url }) => url.includes("/uploads/"))!;
    expect(put.headers).not.toHaveProperty("authorization");
    expect(vendor().invalidRequests).toEqual([]);
  });

  it("is uploaded with the request to delete it after a day", async () => {
    const { heard, context } = listening();
    await submit("fal-ai/birefnet/v2", { images: [heavy] }, context);
    const initiate = heard.find(({ url }) => url.includes("/upload/initiate"))!;
    expect(initiate.headers["x-fal-object-lifecycle"]).toBe('{"expiration_duration_seconds":86400}');
  });

  it("is sent as a Gesso URL if it is large and fal can reach Gesso", async () => {
    await submit("fal-ai/birefnet/v2", { images: [heavy] }, contextOf({ isPublicUrlReachable: true }));
    expect(vendor().ledger[0]!.request.image_url).toBe(await heavy.url());
  });

  it.each([
    "https://fal.media.evil.example/upload",
    "http://v3.fal.media/upload",
    "http://169.254.169.254/upload",
    "https://notfal.ai/upload",
  ])("is not uploaded to %s", async (away) => {
    const sentTo: string[] = [];
    const send: SendRequest = async (url) => {
      sentTo.push(url);
      const text = JSON.stringify({ upload_url: away, file_url: away });
      return { status: 200, header: () => undefined, text };
    };
    const fault = await catchFault(submit("fal-ai/birefnet/v2", { images: [heavy] }, contextOf({ send })));
    expect(fault).toMatchObject({ code: "provider_error", kind: "unsent" });
    expect(sentTo).toEqual([expect.stringContaining("/storage/upload/initiate")]);
  });

  it("is uploaded to fal's own file servers", async () => {
    const sentTo: string[] = [];
    const send: SendRequest = async (url) => {
      sentTo.push(new URL(url).host);
      const text = JSON.stringify({ upload_url: "https://v3.fal.media/up?x=1", file_url: "https://v3.fal.media/f" });
      return { status: 200, header: () => undefined, text: url.includes("initiate") ? text : '{"request_id":"1"}' };
    };
    await submit("fal-ai/birefnet/v2", { images: [heavy] }, contextOf({ send }));
    expect(sentTo[1]).toBe("v3.fal.media");
  });

  it("whose upload fails was not submitted", async () => {
    const plain = contextOf();
    const send: SendRequest = (url, request) =>
      url.includes("initiate") ? Promise.reject(new Error("socket hang up")) : plain.send(url, request);
    const fault = await catchFault(submit("fal-ai/birefnet/v2", { images: [heavy] }, { ...plain, send }));
    expect(fault.kind).toBe("unsent");
  });
});
