import { describe, expect, it } from "vitest";
import type { ProviderContext } from "../providers/provider.ts";
import { recordRequests } from "./record-request.ts";

const CALLBACK = "https://gesso.example/callbacks/fal/1/0/1/signature";
const context: ProviderContext<unknown> = {
  env: { FAL_KEY: "the-secret-key" },
  key: "k",
  now: Date.now,
  callbackUrl: CALLBACK,
  send: async () => ({ status: 200, header: () => undefined, text: "{}" }),
  timeoutSeconds: 1,
  isPublicUrlReachable: true,
  unreachableSeconds: 0,
};
const headers = { authorization: "Key the-secret-key" };

describe("what is kept of a request", () => {
  it("is its address and fields as they were sent, and nothing before it", async () => {
    const { context: used, request } = recordRequests(context);
    expect(request()).toBeUndefined();
    await used.send("https://rest.fal.ai/upload", { method: "POST", headers, body: "{}" });
    await used.send("https://queue.fal.run/x", { method: "POST", headers, body: '{"prompt":"a tree","seed":7}' });
    expect(request()).toEqual({ url: "https://queue.fal.run/x", method: "POST", body: { prompt: "a tree", seed: 7 } });
  });

  it("holds no credential, no right to call back and no picture", async () => {
    const { context: used, request } = recordRequests(context);
    const body = JSON.stringify({
      webhook: CALLBACK,
      image_url: `data:image/png;base64,${"A".repeat(5000)}`,
      images: [{ data: "B".repeat(5000) }],
    });
    await used.send(`https://queue.fal.run/x?fal_webhook=${encodeURIComponent(CALLBACK)}`, {
      method: "POST",
      headers,
      body,
    });
    const kept = JSON.stringify(request());
    expect(kept).not.toContain("signature");
    expect(kept).not.toContain("secret");
    expect(kept).not.toContain("AAAA");
    expect(request()).toEqual({
      url: "https://queue.fal.run/x?fal_webhook=(callback)",
      method: "POST",
      body: {
        webhook: "(callback)",
        image_url: "(image/png, 5022 characters)",
        images: [{ data: "(5000 characters)" }],
      },
    });
  });

  it("tells the parts of a form, files by their kind and size", async () => {
    const { context: used, request } = recordRequests(context);
    const form = new FormData();
    form.set("prompt", "a tree");
    form.append("image[]", new File([new Uint8Array(10)], "a.png", { type: "image/png" }));
    await used.send("https://api.openai.com/v1/images/edits", { method: "POST", headers, body: form });
    expect(request()?.body).toEqual({ prompt: ["a tree"], "image[]": ["(image/png, 10 bytes)"] });
  });
});
