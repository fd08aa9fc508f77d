import { describe, expect, it } from "vitest";
import { createExchangeChecker, type Exchange } from "./check-exchange.ts";

const post = (url: string, body: unknown, text = "", status = 200): Exchange => ({
  ...{ method: "POST", url, status, text },
  body: body instanceof FormData ? body : JSON.stringify(body),
});

const runwayVideo = (fields: object = {}) =>
  post("https://api.dev.runwayml.com/v1/image_to_video", {
    ...{ model: "gen4_turbo", promptImage: "https://example.com/a.png", ratio: "1280:720", duration: 5 },
    ...fields,
  });
const falImage = (fields: object = {}) =>
  post("https://queue.fal.run/fal-ai/flux/dev", { prompt: "a boat", num_images: 1, ...fields });
const openaiImage = (fields: object = {}) =>
  post("https://api.openai.com/v1/images/generations", { model: "gpt-image-2.5-flare", prompt: "a boat", ...fields });
const geminiImage = (fields: object = {}) =>
  post("https://generativelanguage.googleapis.com/v1beta/models/gemini-nano-banana-2.1:generateContent", {
    contents: [{ role: "user", parts: [{ text: "a boat" }] }],
    ...fields,
  });
const lumaReframe = (fields: object = {}) =>
  post("https://api.lumalabs.ai/dream-machine/v1/generations/image/reframe", {
    ...{ generation_type: "reframe_image", model: "photon-1", aspect_ratio: "16:9" },
    ...{ media: { url: "https://example.com/a.png" }, ...fields },
  });
const prediction = (fields: object = {}) =>
  post("https://api.replicate.com/v1/models/google/nano-banana/predictions", {
    input: { prompt: "a boat" },
    ...fields,
  });

const VALID: [string, Exchange][] = [
  ["fal", falImage()],
  ["gemini", geminiImage()],
  ["luma", lumaReframe()],
  ["openai", openaiImage()],
  ["replicate", prediction()],
  ["runway", runwayVideo()],
];

it.each(VALID)("a valid request to %s fits the vendor's type", (id, exchange) => {
  expect(createExchangeChecker(id).check(exchange)).toEqual([]);
});

describe("a planted fault is named with vendor, model and field:", () => {
  it.each([
    ["fal", falImage({ promt: "a boat" }), "fal fal-ai/flux/dev: in the request, /promt is not a field"],
    [
      "gemini",
      geminiImage({ generationConfig: { imageConfig: { size: "1K" } } }),
      "gemini /v1beta/models/gemini-nano-banana-2.1:generateContent: in the request, /generationConfig/imageConfig/size is not a field",
    ],
    ["luma", lumaReframe({ seed: 1 }), "luma photon-1: in the request, /seed is not a field"],
    ["openai", openaiImage({ seed: 1 }), "openai gpt-image-2.5-flare: in the request, /seed is not a field"],
    [
      "replicate",
      prediction({ webhook_url: "https://example.com" }),
      "replicate /v1/models/google/nano-banana/predictions: in the request, /webhook_url is not a field",
    ],
    ["runway", runwayVideo({ fps: 24 }), "runway gen4_turbo: in the request, /fps is not a field"],
  ])("a wrong field (%s)", (id, exchange, problem) => {
    expect(createExchangeChecker(id).check(exchange)).toEqual([problem]);
  });

  it.each([
    ["fal", falImage({ prompt: undefined }), "fal fal-ai/flux/dev: in the request, /prompt is missing"],
    ["luma", lumaReframe({ media: {} }), "luma photon-1: in the request, /media/url is missing"],
    ["openai", openaiImage({ prompt: undefined }), "openai gpt-image-2.5-flare: in the request, /prompt is missing"],
    ["runway", runwayVideo({ ratio: undefined }), "runway gen4_turbo: in the request, /ratio is missing"],
  ])("a missing required field (%s)", (id, exchange, problem) => {
    expect(createExchangeChecker(id).check(exchange)).toEqual([problem]);
  });

  it.each([
    [
      "fal",
      falImage({ output_format: "gif" }),
      'fal fal-ai/flux/dev: in the request, /output_format "gif" is none of jpeg, png',
    ],
    [
      "openai",
      openaiImage({ quality: "ultra" }),
      'openai gpt-image-2.5-flare: in the request, /quality "ultra" is none of low, medium, high, xhigh, max, auto, standard, hd',
    ],
    [
      "runway",
      runwayVideo({ ratio: "16:9" }),
      'runway gen4_turbo: in the request, /ratio "16:9" is none of 1280:720, 720:1280, 1104:832, 832:1104, 960:960, 1584:672',
    ],
  ])("a value outside of an enumeration (%s)", (id, exchange, problem) => {
    expect(createExchangeChecker(id).check(exchange)).toContain(problem);
  });

  it.each([
    ["openai", openaiImage({ model: "gpt-image-9" })],
    ["runway", runwayVideo({ model: "gpt-image-9" })],
  ])("a model that the package does not have (%s)", (id, exchange) => {
    expect(createExchangeChecker(id).check(exchange).join()).toContain('/model "gpt-image-9" is not in the package');
  });

  it("a field of a form", () => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: "gpt-image-1.5", prompt: "a boat", n: "two" }))
      form.append(name, value);
    form.append("image[]", new Blob(["a"]), "a.png");
    expect(createExchangeChecker("openai").check(post("https://api.openai.com/v1/images/edits", form))).toEqual([
      expect.stringContaining("openai gpt-image-1.5: in the request, /n must be number"),
    ]);
  });

  it("a response without a required field, with a wrong one and with a wrong value", () => {
    const reply = (fields: object) =>
      createExchangeChecker("runway").check({
        ...{ method: "GET", url: "https://api.dev.runwayml.com/v1/tasks/1", body: undefined, status: 200 },
        text: JSON.stringify(fields),
      });
    const task = { id: "1", createdAt: "2026-11-19T00:00:00Z", status: "SUCCEEDED", output: [], cost: { credits: 5 } };
    expect(reply(task)).toEqual([]);
    expect(reply({ ...task, output: undefined })).toEqual(["runway /v1/tasks/1: in the response, /output is missing"]);
    expect(reply({ ...task, outputs: [] })).toEqual(["runway /v1/tasks/1: in the response, /outputs is not a field"]);
    expect(reply({ ...task, status: "DONE" }).join()).toContain('/status "DONE" is none of');
  });
});

it("a package without the endpoint of an offer is a failure, not a gap", () => {
  const unknown = post("https://queue.fal.run/fal-ai/flux/gone", { prompt: "a boat" });
  expect(() => createExchangeChecker("fal").check(unknown)).toThrow("EndpointTypeMap has no field fal-ai/flux/gone");
});
