// fal's own client against the fake vendor: if the client works with it, so does the adapter.
import { type ApiError, createFalClient, type ValidationError } from "@fal-ai/client";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FakeVendor } from "./fake-vendor.ts";
import { fakeFal as kit } from "./fal.ts";
import { drawTestImage } from "./result-files.ts";

let vendor: FakeVendor;
beforeAll(async () => {
  vendor = await kit.start();
});
afterAll(() => vendor.close());
beforeEach(() => {
  Object.assign(vendor.switches, {
    outcome: "done",
    workMs: 60,
    refuse: undefined,
    drop: undefined,
    callbacks: "once",
  });
  vendor.ledger.length = 0;
  vendor.invalidRequests.length = 0;
});

/** The client has fal's hosts built in; its URLs are redirected to the fake vendor. */
const clientOf = (credentials = kit.env(vendor).FAL_KEY!) =>
  createFalClient({
    credentials,
    requestMiddleware: async (request) => {
      const { pathname, search } = new URL(request.url);
      return { ...request, url: `${vendor.url}${pathname}${search}` };
    },
  });

const thrownBy = async <Thrown>(work: Promise<unknown>) =>
  (await work.then(
    () => new Error("nothing was thrown"),
    (thrown) => thrown,
  )) as Thrown;

describe("fal's own client", () => {
  it("submits, waits, and reads the result", async () => {
    const seen: string[] = [];
    const { data, requestId } = await clientOf().subscribe("fal-ai/flux-pro/kontext/max/text-to-image", {
      input: { prompt: "a boat", aspect_ratio: "16:9", num_images: 2 },
      pollInterval: 15,
      onQueueUpdate: ({ status }) => seen.push(status),
    });
    expect(seen.at(-1)).toBe("COMPLETED");
    expect(requestId).toBe(vendor.ledger[0]!.id);
    expect(data.images).toHaveLength(2);
    const file = await fetch(data.images[0]!.url);
    expect(file.headers.get("content-type")).toBe("image/png");
    expect(vendor.invalidRequests).toEqual([]);
  });

  it("reports the progress of a job", async () => {
    const client = clientOf();
    const { request_id: requestId } = await client.queue.submit("fal-ai/flux/dev", { input: { prompt: "a boat" } });
    const stream = await client.queue.streamStatus("fal-ai/flux/dev", { requestId });
    const seen: string[] = [];
    for await (const { status } of stream) seen.push(status);
    expect(seen.at(-1)).toBe("COMPLETED");
  });

  it("finds status and result under the first two segments of the endpoint only", async () => {
    const client = clientOf();
    const { request_id: requestId, status_url } = await client.queue.submit("fal-ai/flux-pro/v1/fill", {
      input: { prompt: "x", image_url: await inline("a"), mask_url: await inline("b") },
    });
    expect(status_url).toMatch(/\/fal-ai\/flux-pro\/requests\/[^/]+\/status$/);
    expect(await client.queue.status("fal-ai/flux-pro/v1/fill", { requestId })).toMatchObject({
      request_id: requestId,
    });
    const elsewhere = await thrownBy<ApiError<unknown>>(client.queue.status("fal-ai/flux/dev", { requestId }));
    expect(elsewhere.status).toBe(404);
  });

  it("uploads an image, and the model can open it", async () => {
    const client = clientOf();
    const file = new Blob([new Uint8Array(await drawTestImage("an image", 30, 20))], { type: "image/png" });
    const image_url = await client.storage.upload(file);
    const { data } = await client.subscribe("fal-ai/esrgan", { input: { image_url, scale: 2 }, pollInterval: 15 });
    expect(data.image).toMatchObject({ width: 60, height: 40 });
    expect(vendor.invalidRequests).toEqual([]);
  });

  it("cancels a running job, and reports when nothing is running", async () => {
    const client = clientOf();
    vendor.switches.workMs = 5000;
    const { request_id: requestId } = await client.queue.submit("fal-ai/flux/dev", { input: { prompt: "a boat" } });
    await client.queue.cancel("fal-ai/flux/dev", { requestId });
    expect(vendor.ledger[0]!.canceledAt).toBeDefined();
    const again = await thrownBy<ApiError<{ status: string }>>(client.queue.cancel("fal-ai/flux/dev", { requestId }));
    expect([again.status, again.body.status]).toEqual([400, "ALREADY_COMPLETED"]);
    const unknown = await thrownBy<ApiError<{ status: string }>>(
      client.queue.cancel("fal-ai/flux/dev", { requestId: "nobody" }),
    );
    expect([unknown.status, unknown.body.status]).toEqual([404, "NOT_FOUND"]);
  });

  it("reports invalid input, and the fake vendor records it", async () => {
    const input = { prompt: "a boat", image_size: "huge", steps: 3 } as never;
    const refused = await thrownBy<ValidationError>(clientOf().queue.submit("fal-ai/flux/dev", { input }));
    expect(refused.status).toBe(422);
    expect(refused.fieldErrors.map(({ loc, type }) => [loc.at(-1), type])).toEqual([
      ["steps", "extra_forbidden"],
      ["image_size", "value_error"],
    ]);
    expect(vendor.invalidRequests).toHaveLength(1);
    expect(vendor.ledger).toEqual([]);
  });

  it("reads a refusal of the content in the result of a job that is COMPLETED", async () => {
    const client = clientOf();
    const input = { prompt: "something forbidden" };
    const refused = await thrownBy<ValidationError>(
      client.subscribe("fal-ai/gpt-image-1.5", { input, pollInterval: 15 }),
    );
    expect(refused.fieldErrors[0]!.type).toBe("content_policy_violation");
  });

  it("gets a black image with a flag from models with a safety checker", async () => {
    const input = { prompt: "something forbidden" };
    const { data } = await clientOf().subscribe("fal-ai/flux/dev", { input, pollInterval: 15 });
    expect(data.has_nsfw_concepts).toEqual([true]);
  });

  it("is accepted with the right key only", async () => {
    const refused = await thrownBy<ApiError<unknown>>(
      clientOf("somebody:else").queue.submit("fal-ai/flux/dev", { input: { prompt: "a boat" } }),
    );
    expect(refused.status).toBe(401);
  });

  it("retries a job if its connection is cut, which is why the adapter does not use it", async () => {
    vendor.switches.drop = { times: 1, when: "after" };
    await clientOf().queue.submit("fal-ai/flux/dev", { input: { prompt: "a boat" } });
    expect(vendor.ledger).toHaveLength(2);
  });
});

const inline = async (text: string) => `data:image/png;base64,${(await drawTestImage(text)).toString("base64")}`;
