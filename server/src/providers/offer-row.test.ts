// What follows from a row: the body of a request, what the offer says about parameters, and which jobs it takes.
import { describe, expect, it } from "vitest";
import { createImageAsset, createMaskAsset } from "../../test/fake-vendors/sample-jobs.ts";
import type { Job } from "../contract/operation.ts";
import { adjustParameters, canServe } from "./adjust-parameters.ts";
import { type OfferRow, offerFromRow } from "./offer-row.ts";
import { supportOf } from "./parameter-support.ts";
import type { Asset, Offer, PlacedFile } from "./provider.ts";

const [first, second, mask] = [createImageAsset("first"), createImageAsset("second"), createMaskAsset()];

const notation = {
  recovery: "none",
  place: ({ pixelTask, bytes }: PlacedFile) => [
    pixelTask?.name,
    [first, second, mask].findIndex((each) => each.bytes === bytes),
  ],
  lora: (name: unknown) => `https://loras.example.com/${name}`,
} as const;
const makeOffer = (row: OfferRow): Offer => ({ ...offerFromRow(row, notation), price: null });

const names = { model: "kling-2.5-turbo", upstreamModel: "kling/v2.5" };
const video: OfferRow = {
  ...names,
  task: "video.generate",
  limits: { durations: [5, 10] },
  fields: {
    prompt: { field: "prompt", default: "" },
    images: ["image_url", "tail_image_url"],
    duration: { field: "duration", as: "text" },
    cfg_scale: { field: "cfg_scale", within: { least: 0, most: 1 } },
  },
  constants: { format: "mp4" },
};
const painted: OfferRow = {
  ...names,
  task: "image.edit",
  needs: ["mask"],
  limits: { sizes: ["1024x1024", "1536x1024"], count: 1 },
  fields: {
    prompt: { field: "text", suffix: ", in oil" },
    images: { field: "image_urls[]", maskedFirst: true },
    mask: { field: "mask_url", form: "inverted" },
    size: { field: "image_size", as: "text" },
  },
};

/** The body for a job that was adjusted to the offer, as a worker sends it. */
function send(row: OfferRow, parameters: Partial<Job<Asset>>) {
  const offer = makeOffer(row);
  const { job, changes } = adjustParameters<Asset>({ task: row.task, model: row.model, ...parameters }, offer);
  return { body: offer.body!(job), messages: changes.map(({ message }) => message) };
}

describe("the body of a row", () => {
  it("has the names and notations of the model, its constants and its defaults", () => {
    const { body } = send(video, { images: [first, second], options: { duration: 10, cfg_scale: 0.5 } });
    expect(body).toEqual({
      format: "mp4",
      prompt: "",
      image_url: [undefined, 0],
      tail_image_url: [undefined, 1],
      duration: "10",
      cfg_scale: 0.5,
    });
  });

  it("puts the masked image first and converts the mask", () => {
    const { body } = send(painted, { prompt: "a boat", images: [first, second], mask, mask_over: 1 });
    expect(body).toEqual({
      text: "a boat, in oil",
      image_urls: [
        [undefined, 1],
        [undefined, 0],
      ],
      mask_url: ["invert-mask", 2],
    });
  });

  it("has no field for a parameter that the job lacks", () => {
    expect(send(video, { images: [first] }).body).toEqual({ format: "mp4", prompt: "", image_url: [undefined, 0] });
  });

  it("has the words of the model, and fields that come with a parameter", () => {
    const values = { Turbo: "TURBO" };
    const row: OfferRow = {
      ...names,
      task: "image.character",
      fields: {
        rendering_speed: { field: "speed", values },
        seed: { field: "seed", with: { go_fast: false } },
      },
    };
    expect(send(row, { seed: 7, options: { rendering_speed: "Turbo" } }).body).toEqual({
      speed: "TURBO",
      seed: 7,
      go_fast: false,
    });
    expect(send(row, {}).body).toEqual({});
  });
});

describe("the parameters of a row", () => {
  const stateOf = (row: OfferRow, name: string) => {
    const { state, isExcluded } = supportOf(makeOffer(row), name);
    return isExcluded ? "excluded" : state;
  };

  it("are unsupported without a field, with a warning, and leave the request as it is", () => {
    expect(stateOf(video, "seed")).toBe("unsupported");
    const { body, messages } = send(video, { images: [first], seed: 7 });
    expect(messages).toEqual(["seed is not supported by this model: 7 was ignored."]);
    expect(body).not.toHaveProperty("seed");
  });

  it("are adapted to the bounds of their fields and to the limits", () => {
    const { body, messages } = send(video, { images: [first], options: { duration: 7, cfg_scale: 4 } });
    expect(body).toMatchObject({ duration: "5", cfg_scale: 1 });
    expect(messages).toHaveLength(2);
  });

  it("have an aspect ratio as a size if the model takes sizes, and a number of results by several requests", () => {
    expect(stateOf(painted, "aspect_ratio")).toBe("adapted");
    expect(stateOf(painted, "count")).toBe("honoured");
    expect(send(painted, { images: [first], mask, aspect_ratio: "3:2" }).body).toMatchObject({
      image_size: "1536x1024",
    });
  });

  it("that share a field have a priority", () => {
    const row: OfferRow = {
      ...names,
      task: "image.generate",
      fields: { cfg_scale: "guidance", guidance: { field: "guidance", unless: "cfg_scale" } },
    };
    const { body, messages } = send(row, { options: { cfg_scale: 4, guidance: 7 } });
    expect(body).toEqual({ guidance: 4 });
    expect(messages).toEqual(["guidance is not supported by this model together with cfg_scale: 7 was ignored."]);
  });

  it("of a LoRA need its name", () => {
    const row: OfferRow = {
      ...names,
      task: "image.generate",
      fields: { loras: { field: "loras", list: [{ name: "lora_1", scale: ["strength_model"] }] } },
    };
    expect(send(row, { options: { lora_1: "ink", strength_model: 0.5 } }).body).toEqual({
      loras: [{ path: "https://loras.example.com/ink", scale: 0.5 }],
    });
    expect(send(row, { options: { strength_model: 0.5 } })).toEqual({
      body: {},
      messages: ["strength_model is not supported by this model without lora_1: 0.5 was ignored."],
    });
  });
});

describe("the jobs of a row", () => {
  const takes = (row: OfferRow, job: Partial<Job<Asset>>) =>
    canServe(makeOffer(row), { task: row.task, model: row.model, ...job });

  it("have at most as many images as it has fields for them", () => {
    expect(takes(video, { images: [first, second] })).toBe(true);
    expect(takes(video, { images: [first, second, first] })).toBe(false);
    expect(takes({ ...video, fields: { prompt: "prompt" } }, { images: [first] })).toBe(false);
    expect(takes({ ...video, leastImages: 2 }, { images: [first] })).toBe(false);
  });

  it("have no mask if the model has no field for it, and one if it needs it", () => {
    expect(takes(video, { images: [first], mask })).toBe(false);
    expect(takes(painted, { images: [first], mask })).toBe(true);
    expect(takes(painted, { images: [first] })).toBe(false);
  });

  it("lack the options that it is not for, of which false is none", () => {
    const row: OfferRow = { ...names, task: "image.segment", without: ["multiple"], fields: { images: "image" } };
    expect(takes(row, { images: [first], options: { multiple: false } })).toBe(true);
    expect(takes(row, { images: [first], options: { multiple: true } })).toBe(false);
  });
});
