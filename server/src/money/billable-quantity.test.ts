// Prices by their unit: an image, its megapixels, a second of video, a call.
import { describe, expect, it } from "vitest";
import type { Job } from "../contract/operation.ts";
import { flatPrice, type Price, type PriceUnit } from "../prices/price.ts";
import { publishedPrice } from "../prices/published.ts";
import { adjustParameters } from "../providers/adjust-parameters.ts";
import { providers } from "../providers/all.ts";
import { honourAll } from "../providers/parameter-support.ts";
import type { Offer } from "../providers/provider.ts";
import { costOfDelivery, quoteJob, sumAmounts } from "./billable-quantity.ts";

/** A dollar for each unit, so that an amount is a number of units. */
const offer = (per: PriceUnit | undefined, more: Partial<Offer> = {}): Offer => ({
  ...{ task: "image.generate", model: "flux-dev", upstreamModel: "flux", recovery: "none", price: flatPrice(1, per) },
  parameters: { ...honourAll("image.generate"), ...honourAll("image.upscale"), ...honourAll("video.generate") },
  ...more,
});
const job = (more: Partial<Job> = {}): Job => ({ task: "image.generate", model: "flux-dev", ...more });
const url = { url: "https://pictures.example.com/a.png" };
const large = { width: 2000, height: 1000 };
const small = { width: 100, height: 100 };

describe("the requested quantity", () => {
  it.each<[string, Offer, Job, number | null]>([
    ["a picture, where nothing is said", offer(undefined), job(), 1],
    ["as many pictures as are wanted", offer("image"), job({ count: 3 }), 3],
    ["exact megapixels", offer("megapixel"), job({ ...large, count: 2 }), 4],
    ["at least a megapixel for each picture", offer("megapixel"), job({ ...small, count: 2 }), 2],
    ["about a megapixel if no size is given", offer("megapixel"), job({ count: 2 }), 2],
    [
      "the megapixels of the source, where its size is known",
      offer("megapixel"),
      job({ images: [url], source_size: large }),
      2,
    ],
    ["unknown, where the size of the source is", offer("megapixel"), job({ images: [url] }), null],
    [
      "the megapixels of the enlarged source",
      offer("megapixel"),
      job({ images: [url], source_size: large, options: { factor: 2 } }),
      8,
    ],
    ["the megapixels of the enlarged image", offer("megapixel"), job({ ...large, options: { upscale_factor: 3 } }), 18],
    ["seconds, for each video", offer("second"), job({ options: { duration: 2.5 }, count: 2 }), 5],
    ["seconds that are unknown before the job", offer("second"), job(), null],
    ["one image, where the size of its source is unknown", offer("image"), job({ images: [url] }), 1],
    [
      "the megapixels of the source, where only one side is requested",
      offer("megapixel"),
      job({ width: 4000, images: [url], source_size: large }),
      2,
    ],
    ["one call, however many pictures it makes", offer("call"), job({ count: 4 }), 1],
    ["a call for as many as one call can make", offer("call", { limits: { count: 3 } }), job({ count: 4 }), 2],
  ])("is %s", (_, of, asked, quantity) => {
    expect(quoteJob(of, asked).amount).toBe(quantity);
  });

  it.each(["image.character", "image.reference", "image.reframe", "image.combine"] as const)(
    "is unknown for %s, whose result does not have the size of its source",
    (task) => {
      const of = offer("megapixel", { task, parameters: honourAll(task) });
      expect(quoteJob(of, job({ task, images: [url], source_size: large })).amount).toBeNull();
    },
  );

  it("is what the model produces, not what was requested", () => {
    const videoOffer = offer("second", { limits: { durations: [5, 10] } });
    expect(quoteJob(videoOffer, job({ options: { duration: 3 } })).amount).toBe(5);
    const sized = offer("megapixel", { limits: { sizes: ["2000x2000"] } });
    expect(quoteJob(sized, job({ width: 512, height: 512 })).amount).toBe(4);
  });
});

describe("the produced quantity", () => {
  it.each<[string, Offer, Job, object[], number | null]>([
    ["the pictures that came, fewer than were asked for", offer("image"), job({ count: 3 }), [small, small], 2],
    ["one, where the result is no file", offer("image"), job(), [], 1],
    ["the megapixels of every picture", offer("megapixel"), job({ count: 2 }), [large, small], 3],
    ["the seconds of the film itself", offer("second"), job({ options: { duration: 3 } }), [{ duration: 5.2 }], 5.2],
    [
      "the seconds that were asked for, where the film does not tell",
      offer("second"),
      job({ options: { duration: 3 } }),
      [small],
      3,
    ],
    ["seconds that no file tells", offer("second"), job(), [small], null],
    ["unknown seconds, if those of one video are unknown", offer("second"), job(), [small, { duration: 5 }], null],
    ["the requested seconds without a file", offer("second"), job({ options: { duration: 3 } }), [], 3],
    ["a megapixel for an image with one known side", offer("megapixel"), job(), [{ width: 2000 }], 1],
    ["one call", offer("call"), job(), [small, small], 1],
    ["one call without a file", offer("call"), job(), [], 1],
  ])("is %s", (_, of, asked, files, quantity) => {
    expect(costOfDelivery(of, asked, { files })).toBe(quantity);
  });
});

it("a sum is unknown if one amount is, without rounding errors of binary fractions, and zero if nothing was produced", () => {
  expect(sumAmounts([0.1, 0.1, 0.1, 0.2])).toBe(0.5);
  expect(sumAmounts([0.1, null])).toBeNull();
  expect(sumAmounts([null, 0.1])).toBeNull();
  expect(sumAmounts([])).toBe(0);
});

describe("units of their own", () => {
  it.each<[string, PriceUnit, Job, number | null]>([
    ["started megapixels of 1024 × 1024 pixels", "whole_megapixel", job({ width: 1024, height: 1025 }), 2],
    ["one started megapixel for 1024 × 1024", "whole_megapixel", job({ width: 1024, height: 1024, count: 2 }), 2],
    ["the first megapixel of every image", "first_megapixel", job({ ...large, count: 2 }), 2],
    ["the megapixels after the first", "further_megapixel", job({ ...large, count: 2 }), 2],
    ["at least three megapixels of the source", "input_megapixel", job({ images: [url], source_size: small }), 3],
    ["unknown megapixels of an unknown source", "input_megapixel", job({ images: [url] }), null],
    ["the source images of every result", "input_image", job({ images: [url, url], count: 2 }), 4],
    ["the characters of both prompts", "prompt_character", job({ prompt: "a 🐈", negative_prompt: "dog" }), 6],
    ["what only a response tells", "output_token", job(), null],
  ])("count %s", (_, unit, asked, amount) => {
    expect(quoteJob(offer(unit), asked).amount).toBe(amount);
  });
});

describe("a price with a bound", () => {
  const price: Price = {
    rows: [
      { of: "input_token", usd: 0.001 },
      { of: "output_token", usd: 0.002 },
    ],
    most: [{ of: "image", usd: 0.5 }],
    confidence: "official",
  };
  const measured = offer(undefined, { price });

  it("reserves the bound, and charges what the provider reports", () => {
    expect(quoteJob(measured, job({ count: 2 }))).toEqual({
      ...{ amount: 1, isBound: true },
      lines: [{ unit: "image", quantity: 2, usd: 0.5 }],
    });
    const usage = { input_token: 10, output_token: 20 };
    expect(costOfDelivery(measured, job(), { files: [small], usage })).toBe(0.05);
  });

  it("charges the bound if the provider does not report everything", () => {
    expect(costOfDelivery(measured, job(), { files: [small], usage: { input_token: 10 } })).toBe(0.5);
    expect(costOfDelivery(measured, job({ count: 3 }), { files: [small, small] })).toBe(1);
  });
});

describe("the published price of an offer", () => {
  const published = (provider: string, upstreamModel: string, task: Offer["task"], more: Partial<Offer> = {}): Offer =>
    offer(undefined, {
      ...{ task, upstreamModel, price: publishedPrice(provider, upstreamModel, task), parameters: honourAll(task) },
      ...more,
    });

  it("depends on the parameters of the job", () => {
    const banana = published("fal", "fal-ai/nano-banana-2", "image.reference");
    const asked = (resolution: string) => job({ task: "image.reference", options: { resolution } });
    expect(["1K", "2K", "4K"].map((each) => quoteJob(banana, asked(each)).amount)).toEqual([0.08, 0.12, 0.16]);
    const flare = published("fal", "openai/gpt-image-2.5/flare/text-to-image", "image.generate");
    const quote = (side: number) => quoteJob(flare, job({ width: side, height: side, prompt: "" })).amount;
    expect([quote(1024), quote(2880)].map((usd) => Number(usd!.toFixed(5)))).toEqual([0.05268, 0.1779]);
    const made = { files: [{ width: 1024, height: 768 }] };
    expect(costOfDelivery(flare, job(), { ...made, usage: { dollar: 0.0364 } })).toBe(0.0364);
    expect(costOfDelivery(flare, job({ prompt: "" }), made)).toBeCloseTo(0.1779, 4);
    const gpt = published("fal", "fal-ai/gpt-image-1.5", "image.generate");
    const cost = (width: number) => costOfDelivery(gpt, job({ width, height: 1024 }), { files: [small] });
    expect([cost(1024), cost(1536)]).toEqual([0.133, 0.2]);
  });

  it.each([
    ["fal", "google/nano-banana-2.1", [0.04, 0.0593]],
    ["replicate", "google/nano-banana-2.1", [0.0336, 0.0504]],
  ])("of %s for %s follows the resolution that is sent", (provider, upstreamModel, prices) => {
    const offer = providers
      .find(({ id }) => id === provider)!
      .offers.find((each) => each.task === "image.generate" && each.upstreamModel === upstreamModel)!;
    const cost = (side: number) => {
      const adjusted = adjustParameters(job({ width: side, height: side, prompt: "a boat" }), offer).job;
      expect(quoteJob(offer, adjusted).amount).toBeGreaterThanOrEqual(prices[side / 1024 - 1]!);
      return costOfDelivery(offer, adjusted, { files: [small] });
    };
    expect([cost(1024), cost(2048)]).toEqual(prices);
  });

  it("of a reference image at 1080p is that of 2K, which is what fal is asked for", () => {
    const reference = providers
      .find(({ id }) => id === "fal")!
      .offers.find(({ task, upstreamModel }) => task === "image.reference" && upstreamModel.endsWith("/edit"))!;
    const cost = (resolution: string) => {
      const asked = job({ task: "image.reference", images: [url], options: { resolution, tags: ["hero"] } });
      const adjusted = adjustParameters(asked, reference).job;
      return [adjusted.options?.resolution, costOfDelivery(reference, adjusted, { files: [small] })];
    };
    expect([cost("720p"), cost("1080p")]).toEqual([
      ["1K", 0.04],
      ["2K", 0.0593],
    ]);
  });

  it("bounds the tokens of a GPT image by its size, its source images and its prompt", () => {
    const gpt = published("openai", "gpt-image-2.5-flare", "image.generate");
    const amount = (more: Partial<Job>) => quoteJob(gpt, job(more)).amount;
    expect(amount({ width: 1024, height: 1024 })).toBeCloseTo(7024 * 0.00003, 6);
    expect(amount({})).toBeCloseTo(23_719 * 0.00003, 4);
    expect(amount({ width: 1024, height: 1024, images: [url], prompt: "ab" })).toBeCloseTo(
      0.21072 + 0.012288 + 0.00001,
      6,
    );
    const usage = { input_text_token: 10, input_image_token: 0, output_text_token: 0, output_image_token: 1000 };
    expect(costOfDelivery(gpt, job(), { files: [small], usage })).toBe(0.03005);
  });

  it("is what Runway reports for its GPT image, and otherwise the bound", () => {
    const gpt = published("runway", "gpt_image_2", "image.generate");
    expect(costOfDelivery(gpt, job(), { files: [small], usage: { dollar: 0.07 } })).toBe(0.07);
    expect(costOfDelivery(gpt, job(), { files: [small] })).toBe(0.45);
  });
});
