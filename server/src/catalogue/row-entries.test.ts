// Entries of gesso.yaml that describe an offer by its fields, with the providers that there are.
import { describe, expect, it } from "vitest";
import { createImageAsset } from "../../test/fake-vendors/sample-jobs.ts";
import type { Job } from "../contract/operation.ts";
import { adjustParameters, canServe } from "../providers/adjust-parameters.ts";
import { providers } from "../providers/all.ts";
import { offerFromRow } from "../providers/offer-row.ts";
import type { Asset } from "../providers/provider.ts";
import { applyCatalogue } from "./apply-catalogue.ts";
import { parseCatalogue } from "./parse-catalogue.ts";

function apply(text: string) {
  const { file, problems, formatProblems } = parseCatalogue(text, "gesso.yaml");
  const applied = applyCatalogue(providers, file, "2026-11-15", offerFromRow);
  return { providers: applied.providers, messages: formatProblems([...problems, ...applied.problems]) };
}

const KLING = `
models:
  kling-2.5-turbo:
    - provider: replicate
      as: kwaivgi/kling-v2.5-turbo-pro
      task: video.generate
      fields:
        prompt: { field: prompt, default: "" }
        negative_prompt: negative_prompt
        images: [start_image, end_image]
        duration: { field: duration, as: text }
        cfg_scale: { field: cfg_scale, within: { least: 0, most: 1 } }
      constants: { watermark: false }
      limits: { durations: [5, 10] }
      price: 0.07
      per: second
`;

describe("an entry with fields", () => {
  it("adds an offer under a name of its own, with its price and what follows from its fields", () => {
    const { providers: applied, messages } = apply(KLING);
    expect(messages).toEqual([]);
    const replicate = applied.find(({ id }) => id === "replicate")!;
    const offer = replicate.offers.find(({ model }) => model === "kling-2.5-turbo")!;
    expect(offer).toMatchObject({
      task: "video.generate",
      upstreamModel: "kwaivgi/kling-v2.5-turbo-pro",
      recovery: "find",
      price: { rows: [{ of: "second", usd: 0.07 }] },
      limits: { durations: [5, 10], images: 2, mask: false },
      parameters: { seed: { state: "unsupported" }, cfg_scale: { state: "adapted" } },
    });
    const images = [createImageAsset("first"), createImageAsset("last")];
    const requested: Job<Asset> = {
      ...{ task: "video.generate", model: "kling-2.5-turbo", images, seed: 7 },
      options: { duration: 7, cfg_scale: 5 },
    };
    expect(canServe(offer, requested)).toBe(true);
    const { job, changes } = adjustParameters(requested, offer);
    expect(offer.body!(job)).toEqual({
      prompt: "",
      start_image: images[0],
      end_image: images[1],
      duration: "5",
      cfg_scale: 1,
      watermark: false,
    });
    expect(changes.map(({ field }) => field).sort()).toEqual(["cfg_scale", "duration", "seed"]);
  });

  it("can serve a model of the interface, in its place of the list", () => {
    const { providers: applied, messages } = apply(`
models:
  flux-dev:
    - provider: fal
      as: fal-ai/flux-2
      task: image.generate
      fields: { prompt: prompt, count: num_images, size: { field: image_size, as: object } }
      needs: [seed]
      without: [model_id]
      equivalence: flux-dev
`);
    expect(messages).toEqual([]);
    const offers = applied.flatMap((provider) => provider.offers).filter(({ model }) => model === "flux-dev");
    const offer = offers.find(({ upstreamModel }) => upstreamModel === "fal-ai/flux-2")!;
    expect(offer).toMatchObject({ preference: 1, price: null, equivalence: "flux-dev", recovery: "none" });
    const job = { task: "image.generate", model: "flux-dev", prompt: "a boat" } as const;
    expect(canServe(offer, job)).toBe(false);
    expect(canServe(offer, { ...job, seed: 1 } as never)).toBe(true);
  });

  it.each([
    ["{ provider: fal, task: video.generate, fields: { prompt: prompt } }", "fields needs as"],
    ["{ provider: fal, as: a/b, fields: { prompt: prompt } }", "fields needs task"],
    ["{ provider: fal, as: a/b, task: image.cut, fields: { prompt: prompt } }", "fields needs task"],
    ["{ provider: openai, as: a, task: image.generate, fields: { prompt: prompt } }", "openai has requests of its own"],
    [
      "{ provider: fal, as: a/b, like: fal-ai/flux/dev, task: image.generate, fields: { prompt: prompt } }",
      "Set only one",
    ],
    ["{ provider: fal, as: a/b, task: image.generate, fields: { fps: fps } }", "image.generate has no parameter fps"],
    ["{ provider: fal, as: a/b, task: image.generate, fields: { prompt: prompt }, needs: [fps] }", "no parameter fps"],
    ["{ provider: fal, as: a/b, task: image.generate, fields: { promt: prompt } }", "did you mean prompt?"],
    ["{ provider: fal, as: a/b, task: image.generate, fields: { mask: { field: m, form: black } } }", "mask must be"],
    ["{ provider: fal, as: a/b, task: image.generate, fields: { seed: { feild: s } } }", "seed must be"],
    ["{ provider: fal, as: a/b, task: image.generate, fields: prompt }", "fields must be a mapping"],
    ["{ provider: fal, offer: fal-ai/flux/dev, needs: [seed] }", "needs needs fields"],
  ])("%s is refused with a reason", (entry, reason) => {
    const { messages } = apply(`models:\n  flux-dev:\n    - ${entry}\n`);
    expect(messages).toHaveLength(1);
    expect(messages[0]).toContain(reason);
  });
});
