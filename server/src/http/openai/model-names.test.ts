import { expect, it } from "vitest";
import type { EnabledProvider, Offer, Provider } from "../../providers/provider.ts";
import { createModelNames } from "./model-names.ts";

type TestOffer = Pick<Offer, "task" | "model" | "upstreamModel"> & Partial<Offer>;
const provider = (preference: number, offers: TestOffer[]): EnabledProvider => ({
  env: {},
  provider: { id: `p${preference}`, preference, offers } as unknown as Provider,
});
const names = createModelNames([
  provider(60, [{ task: "image.generate", model: "nanobanana", upstreamModel: "banana" }]),
  provider(50, [
    { task: "image.generate", model: "gemini-2.5", upstreamModel: "banana" },
    { task: "image.edit", model: "nanobanana", upstreamModel: "banana" },
    { task: "image.generate", model: "flux-dev", upstreamModel: "fal-ai/flux/dev" },
    { task: "image.generate", model: "vendora", upstreamModel: "gpt-old", lifecycle: { state: "retired" } },
    { task: "image.generate", model: "wan-image-2.2", upstreamModel: "wan" },
    { task: "video.generate", model: "video-default", upstreamModel: "film" },
  ]),
]);

it("own names come first, then the names at the providers, in the order of preference", () => {
  expect(names.resolve("flux-dev", "image.generate")).toEqual({ model: "flux-dev" });
  expect(names.resolve("fal-ai/flux/dev", "image.generate")).toEqual({ model: "flux-dev" });
  expect(names.resolve("banana", "image.generate")).toEqual({ model: "gemini-2.5" });
  expect(names.resolve("banana", "image.edit")).toEqual({ model: "nanobanana" });
});

it("models are listed once, without retired ones, videos, and models that need more than a prompt", () => {
  expect(names.list()).toEqual(["flux-dev", "nanobanana", "gemini-2.5"]);
  expect(["gpt-old", "vendora", "wan", "film", "dall-e-2"].filter(names.has)).toEqual([]);
});

it("an unknown model is not found, and one that cannot do the task is explained", () => {
  expect(() => names.resolve("dall-e-2", "image.generate")).toThrow(
    expect.objectContaining({ code: "model_not_found", details: { model: "dall-e-2" } }),
  );
  expect(() => names.resolve("flux-dev", "image.edit")).toThrow(
    expect.objectContaining({
      code: "validation_error",
      details: {
        errors: [
          expect.objectContaining({
            path: "/model",
            message: "flux-dev cannot edit images. Models that can: nanobanana.",
          }),
        ],
      },
    }),
  );
});

it.each(["gpt-image-1", "gpt-image-1.5", "gpt-image-2", "dall-e-3"])(
  "%s, which programs for OpenAI send by default, means the nearest enabled model, with a warning",
  (name) => {
    expect(names.resolve(name, "image.generate")).toEqual({
      model: "gemini-2.5",
      warning: `${name} is not enabled here: gemini-2.5 made the image.`,
    });
    expect(names.resolve(name, "image.edit").model).toBe("nanobanana");
    expect(names.has(name)).toBe(true);
    const own = { task: "image.generate", model: "vendora", upstreamModel: name } as const;
    const enabled = createModelNames([provider(50, [own])]);
    expect(enabled.resolve(name, "image.generate")).toEqual({ model: "vendora" });
    expect(() => createModelNames([]).resolve(name, "image.generate")).toThrow(
      expect.objectContaining({ code: "model_not_found" }),
    );
  },
);
