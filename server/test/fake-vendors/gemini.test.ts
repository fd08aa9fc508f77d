// The official client against the fake vendor: its requests are accepted, and it understands the responses.
import { ApiError, GoogleGenAI } from "@google/genai";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FakeVendor } from "./fake-vendor.ts";
import { fakeGemini } from "./gemini.ts";
import { drawTestImage } from "./result-files.ts";

let fakeVendor: FakeVendor;
let client: GoogleGenAI;
const connect = (apiKey = fakeGemini.env(fakeVendor).GEMINI_API_KEY!) =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: fakeVendor.url } });

beforeAll(async () => {
  fakeVendor = await fakeGemini.start();
  client = connect();
});
afterAll(() => fakeVendor.close());
beforeEach(() => {
  fakeVendor.ledger.length = 0;
  fakeVendor.invalidRequests.length = 0;
  Object.assign(fakeVendor.switches, { drop: undefined, refuse: undefined, outcome: "done", retired: [] });
});

const MODEL = "gemini-nano-banana-2.1";
const ask = (contents: unknown, config: object = {}, by = client) =>
  by.models.generateContent({ model: MODEL, contents: contents as string, config });
const saidOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (thrown) => (thrown instanceof ApiError ? `${thrown.status} ${JSON.parse(thrown.message).error.status}` : "lost"),
  );

describe("images", () => {
  it("have the requested aspect ratio, after a thought", async () => {
    const config = { responseModalities: ["IMAGE"], imageConfig: { aspectRatio: "16:9", imageSize: "2K" } };
    const { candidates } = await ask("a lamp", config);
    const parts = candidates![0]!.content!.parts!;
    expect(parts.filter(({ thought }) => thought)).toHaveLength(2);
    const { inlineData } = parts.findLast(({ thought }) => !thought)!;
    const seen = await sharp(Buffer.from(inlineData!.data!, "base64")).metadata();
    expect(seen).toMatchObject({ width: 192, height: 108, format: "jpeg" });
    expect(inlineData!.mimeType).toBe("image/jpeg");
  });

  it("are created from several images", async () => {
    const inline = async (name: string) => ({
      inlineData: { mimeType: "image/png", data: (await drawTestImage(name)).toString("base64") },
    });
    await ask([{ role: "user", parts: [{ text: "both" }, await inline("one"), await inline("two")] }]);
    expect(fakeVendor.ledger[0]?.request).toMatchObject({ said: "both", images: 2 });
    expect(fakeVendor.invalidRequests).toEqual([]);
  });
});

describe("a status of 200 without an image", () => {
  it("reports the reason in the prompt feedback or in the finish reason of the candidate", async () => {
    expect((await ask("something forbidden")).promptFeedback?.blockReason).toBe("PROHIBITED_CONTENT");
    fakeVendor.switches.outcome = "moderated";
    expect((await ask("a lamp")).candidates?.[0]).toMatchObject({ finishReason: "IMAGE_SAFETY" });
    fakeVendor.switches.outcome = "failed";
    expect((await ask("a lamp")).candidates?.[0]).toMatchObject({ finishReason: "NO_IMAGE" });
    fakeVendor.switches.outcome = "done";
    expect((await ask("only words")).candidates?.[0]?.content?.parts?.at(-1)).toEqual({
      text: "I would rather talk about it.",
    });
  });
});

describe("text", () => {
  it("is JSON of the schema", async () => {
    const { text } = await client.models.generateContent({
      model: "gemini-3.8-flash",
      contents: "hello",
      config: {
        systemInstruction: "Be brief.",
        responseMimeType: "application/json",
        responseJsonSchema: { type: "object", properties: { title: { type: "string" } } },
      },
    });
    expect(JSON.parse(text!)).toEqual({ title: "title: hello" });
    expect(fakeVendor.ledger[0]?.request).toMatchObject({ instruction: "Be brief." });
  });
});

describe("the fake vendor is as strict as Google", () => {
  it("about keys, models, ratios and images", async () => {
    expect(await saidOf(ask("a lamp", {}, connect("other")))).toBe("400 INVALID_ARGUMENT");
    expect(await saidOf(ask("a lamp", { imageConfig: { aspectRatio: "7:5" } }))).toBe("400 INVALID_ARGUMENT");
    expect(await saidOf(ask("a lamp", { imageConfig: { imageSize: "512" } }))).toBe("400 INVALID_ARGUMENT");
    const damaged = { inlineData: { mimeType: "image/png", data: "AAAA" } };
    expect(await saidOf(ask([{ role: "user", parts: [damaged] }]))).toBe("400 INVALID_ARGUMENT");
    fakeVendor.switches.retired = [MODEL];
    expect(await saidOf(ask("a lamp"))).toBe("404 NOT_FOUND");
    expect(fakeVendor.ledger).toEqual([]);
  });

  it("lists its models until they are retired", async () => {
    const names = async () => (await client.models.list()).page.map(({ name }) => name);
    expect(await names()).toContain(`models/${MODEL}`);
    fakeVendor.switches.retired = [MODEL];
    expect(await names()).not.toContain(`models/${MODEL}`);
  });
});

it("a connection that is cut after the job was accepted costs one image: this client does not retry", async () => {
  fakeVendor.switches.drop = { times: 10, when: "after" };
  expect(await saidOf(ask("a lamp"))).toBe("lost");
  expect(fakeVendor.ledger).toHaveLength(1);
});
