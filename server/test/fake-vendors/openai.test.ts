// The official client against the fake vendor: its requests are accepted, and it understands the responses. It also
// shows why no adapter uses it: by default it sends a paid request three times.
import OpenAI, { APIError, toFile } from "openai";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FakeVendor } from "./fake-vendor.ts";
import { fakeOpenai } from "./openai.ts";
import { colourFromText, drawTestImage } from "./result-files.ts";

let fakeVendor: FakeVendor;
let client: OpenAI;
const connect = (more: object = {}) => {
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseURL } = fakeOpenai.env(fakeVendor);
  return new OpenAI({ apiKey, baseURL, maxRetries: 0, ...more } as ConstructorParameters<typeof OpenAI>[0]);
};

beforeAll(async () => {
  fakeVendor = await fakeOpenai.start();
  client = connect();
});
afterAll(() => fakeVendor.close());
beforeEach(() => {
  fakeVendor.ledger.length = 0;
  fakeVendor.invalidRequests.length = 0;
  Object.assign(fakeVendor.switches, { drop: undefined, refuse: undefined, outcome: "done", retired: [] });
});

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (thrown) => (thrown instanceof APIError ? `${thrown.status} ${thrown.code}` : String(thrown)),
  );
const generate = (more: object = {}) =>
  client.images.generate({ model: "gpt-image-2.5-flare", prompt: "a lamp", ...more } as {
    model: string;
    prompt: string;
  });

/** Its left half is transparent. */
const halfClear = () => {
  const pixels = Buffer.alloc(64 * 64 * 4);
  for (let at = 0; at < 64 * 64; at++) pixels[at * 4 + 3] = at % 64 < 32 ? 0 : 255;
  return sharp(pixels, { raw: { width: 64, height: 64, channels: 4 } })
    .png()
    .toBuffer();
};

describe("images", () => {
  it("return their bytes, in the requested number and size", async () => {
    const { data, output_format } = await generate({ n: 2, size: "1536x864" });
    const sizes = data!.map(({ b64_json }) => sharp(Buffer.from(b64_json!, "base64")).metadata());
    expect(await Promise.all(sizes)).toMatchObject([
      { width: 1536, height: 864, format: "png" },
      { width: 1536, height: 864, format: "png" },
    ]);
    expect(output_format).toBe("png");
    expect(fakeVendor.ledger).toHaveLength(1);
  });

  it("are edited from several files", async () => {
    const image = await Promise.all(
      ["one", "two"].map(async (name) => toFile(await drawTestImage(name), `${name}.png`, { type: "image/png" })),
    );
    await client.images.edit({ model: "gpt-image-1.5", prompt: "both", image, input_fidelity: "high" });
    expect(fakeVendor.ledger[0]?.request).toMatchObject({ images: 2, mask: false, prompt: "both" });
  });

  it("change where the mask is transparent, and nowhere else", async () => {
    const edited = await client.images.edit({
      model: "gpt-image-2.5-flare",
      prompt: "a sea",
      image: await toFile(await drawTestImage("sand"), "a.png", { type: "image/png" }),
      mask: await toFile(await halfClear(), "mask.png", { type: "image/png" }),
    });
    const pixels = await sharp(Buffer.from(edited.data![0]!.b64_json!, "base64")).removeAlpha().raw().toBuffer();
    const at = (x: number) => ({ r: pixels[x * 3], g: pixels[x * 3 + 1], b: pixels[x * 3 + 2] });
    expect(at(5)).toEqual(colourFromText("a sea"));
    expect(at(60)).toEqual(colourFromText("sand"));
  });
});

describe("the fake vendor is as strict as OpenAI", () => {
  it.each([
    [{ response_format: "b64_json" }, "400 unknown_parameter"],
    [{ size: "1000x1000" }, "400 invalid_value"],
    [{ size: "512x512" }, "400 invalid_value"],
    [{ size: "3200x800" }, "400 invalid_value"],
    [{ model: "gpt-image-1.5", size: "1536x864" }, "400 invalid_value"],
    [{ n: 11 }, "400 invalid_value"],
    [{ model: "gpt-image-1" }, "404 model_not_found"],
    [{ prompt: "something forbidden" }, "400 moderation_blocked"],
  ])("to %o it responds %s", async (more, says) => {
    expect(await codeOf(generate(more))).toBe(says);
  });

  it("about keys, organizations and masks", async () => {
    const ask = (other: OpenAI) => codeOf(other.images.generate({ model: "gpt-image-2", prompt: "a lamp" }));
    expect(await ask(connect({ apiKey: "sk-other" }))).toBe("401 invalid_api_key");
    expect(await ask(connect({ organization: "org-other" }))).toBe("401 mismatched_organization");
    const image = await toFile(await drawTestImage("sand"), "a.png", { type: "image/png" });
    const opaque = await toFile(await drawTestImage("mask"), "mask.png", { type: "image/png" });
    const edit = client.images.edit({ model: "gpt-image-2", prompt: "x", image, mask: opaque });
    expect(await codeOf(edit)).toBe("400 invalid_value");
    expect(fakeVendor.ledger).toEqual([]);
  });
});

describe("text", () => {
  const format = {
    type: "json_schema" as const,
    name: "answer",
    strict: true,
    schema: {
      type: "object",
      properties: { title: { type: "string" } },
      required: ["title"],
      additionalProperties: false,
    },
  };

  it("has the requested format", async () => {
    const image_url = `data:image/png;base64,${(await drawTestImage("sand", 40, 30)).toString("base64")}`;
    const { output_text } = await client.responses.create({
      model: "gpt-5.6-luna",
      input: [{ role: "user", content: [{ type: "input_image", image_url, detail: "auto" }] }],
      text: { format },
    });
    expect(JSON.parse(output_text)).toEqual({ title: "title: an image of 40x30" });
  });

  it("can be waited for and canceled in the background", async () => {
    fakeVendor.switches.workMs = 60_000;
    const { id, status } = await client.responses.create({ model: "gpt-5.6-luna", input: "hello", background: true });
    expect(["queued", "in_progress"]).toContain(status);
    await client.responses.cancel(id);
    expect((await client.responses.retrieve(id)).status).toBe("cancelled");
    fakeVendor.switches.workMs = 50;
  });

  it("is refused with a message", async () => {
    const { output } = await client.responses.create({ model: "gpt-5.6-luna", input: "something forbidden" });
    expect(output[0]).toMatchObject({ type: "message", content: [{ type: "refusal" }] });
  });
});

it("lists its models until they are retired", async () => {
  const ids = async () => (await client.models.list()).data.map(({ id }) => id);
  expect(await ids()).toContain("gpt-image-2.5-flare");
  fakeVendor.switches.retired = ["gpt-image-2.5-flare"];
  expect(await ids()).not.toContain("gpt-image-2.5-flare");
});

describe("a connection that is cut after the job was accepted", () => {
  const lose = async (other: OpenAI) => {
    fakeVendor.switches.drop = { times: 10, when: "after" };
    expect(await codeOf(other.images.generate({ model: "gpt-image-2", prompt: "a lamp" }))).toMatch(/undefined/);
    return fakeVendor.ledger.length;
  };

  it("costs one image with retries turned off", async () => {
    expect(await lose(client)).toBe(1);
  });

  it("costs three with the client's default retries", async () => {
    expect(await lose(connect({ maxRetries: undefined }))).toBe(3);
  });
});
