// Prices by their unit: an image, its megapixels, a second of video, a call.
import { describe, expect, it } from "vitest";
import type { Job } from "../kit/operation.ts";
import { honourAll } from "../providers/parameter-support.ts";
import type { Offer, PriceBasis } from "../providers/provider.ts";
import { calculateDeliveredQuantity, calculateRequestedQuantity, sumCosts, UNIT_LABELS } from "./billable-quantity.ts";

const offer = (per: PriceBasis | undefined, more: Partial<Offer> = {}): Offer => ({
  ...{ task: "image.generate", model: "flux-dev", upstreamModel: "flux", recovery: "none", price: 0.1 },
  parameters: { ...honourAll("image.generate"), ...honourAll("image.upscale"), ...honourAll("video.generate") },
  ...(per && { per }),
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
    ["about a megapixel where nobody says a size", offer("megapixel"), job({ count: 2 }), 2],
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
    ["seconds that nobody can know before", offer("second"), job(), null],
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
    expect(calculateRequestedQuantity(of, asked)).toBe(quantity);
  });

  it.each(["image.character", "image.reference", "image.reframe", "image.combine"] as const)(
    "is unknown for %s, whose result does not have the size of its source",
    (task) => {
      const of = offer("megapixel", { task, parameters: honourAll(task) });
      expect(calculateRequestedQuantity(of, job({ task, images: [url], source_size: large }))).toBeNull();
    },
  );

  it("is what the model produces, not what was requested", () => {
    const videoOffer = offer("second", { limits: { durations: [5, 10] } });
    expect(calculateRequestedQuantity(videoOffer, job({ options: { duration: 3 } }))).toBe(5);
    const sized = offer("megapixel", { limits: { sizes: ["2000x2000"] } });
    expect(calculateRequestedQuantity(sized, job({ width: 512, height: 512 }))).toBe(4);
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
    ["seconds that nobody knows", offer("second"), job(), [small], null],
    ["unknown seconds, if those of one video are unknown", offer("second"), job(), [small, { duration: 5 }], null],
    ["the requested seconds without a file", offer("second"), job({ options: { duration: 3 } }), [], 3],
    ["a megapixel for an image with one known side", offer("megapixel"), job(), [{ width: 2000 }], 1],
    ["one call", offer("call"), job(), [small, small], 1],
    ["one call without a file", offer("call"), job(), [], 1],
  ])("is %s", (_, of, asked, files, quantity) => {
    expect(calculateDeliveredQuantity(of, asked, files)).toBe(quantity);
  });
});

describe("a sum", () => {
  it("has no rounding errors of binary fractions", () => {
    expect(
      sumCosts([
        { quantity: 3, price: 0.1 },
        { quantity: 1, price: 0.2 },
      ]),
    ).toBe(0.5);
  });

  it("is unknown if one price or one quantity is, and zero if nothing was produced", () => {
    expect(
      sumCosts([
        { quantity: 1, price: 0.1 },
        { quantity: 1, price: null },
      ]),
    ).toBeNull();
    expect(
      sumCosts([
        { quantity: 1, price: null },
        { quantity: 1, price: 0.1 },
      ]),
    ).toBeNull();
    expect(sumCosts([{ quantity: null, price: 0 }])).toBeNull();
    expect(sumCosts([])).toBe(0);
  });
});

it("each basis of a price has a label", () => {
  expect(UNIT_LABELS).toEqual({
    ...{ image: "per image", megapixel: "per megapixel", second: "per second of video", call: "per call" },
  });
});
