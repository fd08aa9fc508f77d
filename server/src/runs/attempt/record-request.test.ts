import { describe, expect, it } from "vitest";
import { providerFault } from "../../providers/call-provider.ts";
import type { ProviderContext } from "../../providers/provider.ts";
import { systemClock } from "../../runtime/system-clock.ts";
import { unsentRequest } from "../../runtime/unsent-request.ts";
import { recordRequests } from "./record-request.ts";

const CALLBACK = "https://gesso.example/callbacks/fal/1/0/1/signature";
const context: ProviderContext<unknown> = {
  env: { FAL_KEY: "the-secret-key" },
  key: "k",
  now: systemClock.now,
  after: systemClock.after,
  callbackUrl: CALLBACK,
  send: async () => ({ status: 200, header: () => undefined, text: "{}" }),
  timeoutSeconds: 1,
  isPublicUrlReachable: true,
  unreachableSeconds: 0,
  submittedSeconds: 0,
  runPixelTask: () => Promise.reject(new Error("this test has no images")),
};
const headers = { authorization: "Key the-secret-key" };

/** The record of one request. */
async function record(url: string, body: unknown, options = {}) {
  const { context: used, request } = recordRequests(context, options);
  await used.send(url, { method: "POST", headers, body: body instanceof FormData ? body : JSON.stringify(body) });
  return request();
}

describe("the record of a request to a provider", () => {
  it("has the parameters of the last request", async () => {
    const { context: used, request } = recordRequests(context);
    expect(request()).toBeUndefined();
    await used.send("https://rest.fal.ai/upload", { method: "POST", headers, body: "{}" });
    await used.send("https://queue.fal.run/x", { method: "POST", headers, body: '{"prompt":"a tree","seed":7}' });
    expect(request()).toEqual({ method: "POST", path: "/x", body: { prompt: "a tree", seed: 7 } });
  });

  it("leaves out a request of which no byte was sent, and has one whose response was lost", async () => {
    const failures: Record<string, Error> = {
      "/refused": unsentRequest("ECONNREFUSED"),
      "/expired": providerFault("provider_error", { kind: "unsent" }),
      "/lost": new Error("socket hang up"),
    };
    const send = async (url: string) => {
      const failure = failures[new URL(url).pathname];
      if (failure) throw failure;
      return { status: 200, header: () => undefined, text: "{}" };
    };
    const { context: used, request } = recordRequests({ ...context, send });
    const post = (path: string) => used.send(`https://queue.fal.run${path}`, { method: "POST", headers, body: "{}" });
    for (const path of ["/refused", "/expired"]) await expect(post(path)).rejects.toBe(failures[path]);
    expect(request()).toBeUndefined();
    await expect(post("/lost")).rejects.toThrow("socket hang up");
    await expect(post("/refused")).rejects.toBe(failures["/refused"]);
    expect(request()).toMatchObject({ path: "/lost" });
  });

  it("has no credential, callback URL or image", async () => {
    const url = `https://queue.fal.run/x?fal_webhook=${encodeURIComponent(CALLBACK)}`;
    const kept = await record(url, {
      webhook: CALLBACK,
      webhook_url: CALLBACK,
      webhook_secret: "the-secret-of-this-job",
      image_url: `data:image/png;base64,${"A".repeat(5000)}`,
      images: [{ data: "B".repeat(5000) }],
    });
    expect(kept).toEqual({
      method: "POST",
      path: "/x",
      body: { image_url: "(image/png, 5022 characters)", images: [{ data: "(5000 characters)" }] },
    });
  });

  it("of an imported model has all plain values, whatever they are called, and no URL or file", async () => {
    const input = { motion: "slow", glow: 3, frames: [{ at: 1, image_url: "https://a.example/b.png" }] };
    const body = { version: "c0ffee", input: { ...input, voice: `data:audio/wav;base64,${"A".repeat(500)}` } };
    const kept = await record(
      "https://api.replicate.com/v1/predictions",
      { ...body, webhook: CALLBACK },
      { isOfAnyModel: true },
    );
    expect(kept!.body).toEqual({
      version: "c0ffee",
      input: {
        motion: "slow",
        glow: 3,
        frames: [{ at: 1, image_url: "(URL)" }],
        voice: "(audio/wav, 522 characters)",
      },
      webhook: "(URL)",
    });
  });

  it("has no private address of a ComfyUI server", async () => {
    const graph = { "4": { class_type: "KSampler", inputs: { seed: 7, steps: 20, server: "10.0.0.7" } } };
    const kept = await record("http://10.0.0.7:8188/prompt", { prompt: graph, client_id: "c", extra_data: { k: "v" } });
    expect(JSON.stringify(kept)).not.toContain("10.0.0.7");
    expect(kept).toEqual({
      method: "POST",
      path: "/prompt",
      body: { prompt: { "4": { class_type: "KSampler", inputs: { seed: 7, steps: 20 } } } },
    });
  });

  it("has no URL of LoRA weights or input images, under any name", async () => {
    const weights = "https://weights.example/tenant-7.safetensors?token=t";
    const kept = await record("https://queue.fal.run/x", {
      prompt: "a tree",
      loras: [{ path: weights, scale: 0.8 }],
      lora_weights: weights,
      input: { image: "https://gesso.example/files/1?signature=s", style: weights },
    });
    expect(JSON.stringify(kept)).not.toContain("://");
    expect(kept?.body).toEqual({
      prompt: "a tree",
      loras: [{ scale: 0.8 }],
      input: { image: "(URL)", style: "(URL)" },
    });
  });

  it("has the parts of a form, with the media type and size of files", async () => {
    const form = new FormData();
    form.set("prompt", "a tree");
    form.append("image[]", new File([new Uint8Array(10)], "a.png", { type: "image/png" }));
    const kept = await record("https://api.openai.com/v1/images/edits", form);
    expect(kept?.body).toEqual({ prompt: ["a tree"], "image[]": ["(image/png, 10 bytes)"] });
  });

  it("leaves out a body that is not JSON", async () => {
    const { context: used, request } = recordRequests(context);
    await used.send("https://api.example/x", { method: "POST", headers, body: "token=the-secret-key" });
    expect(request()).toEqual({ method: "POST", path: "/x", body: {} });
  });
});
