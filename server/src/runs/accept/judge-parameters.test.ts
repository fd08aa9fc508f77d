import { describe, expect, it } from "vitest";
import { builtInModelFacts } from "../../../test/support/operation-plans.ts";
import type { Job } from "../../contract/operation.ts";
import { parseInput } from "../../contract/parse.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Fault } from "../../faults/faults.ts";
import { findOperation } from "../../operations/all.ts";
import { providers } from "../../providers/all.ts";
import { judgeParameters, markDefaults } from "./judge-parameters.ts";

const findOffer = (provider: string, upstreamModel: string) =>
  providers.find(({ id }) => id === provider)!.offers.find((offer) => offer.upstreamModel === upstreamModel)!;

function judge(
  operation: string,
  input: JsonObject,
  offer = findOffer("replicate", "kwaivgi/kling-v2.1"),
  isStrict = false,
) {
  const declared = findOperation(operation)!;
  const parsed = parseInput(declared, input);
  const plan = declared.plan!(parsed.input, parsed.provided, builtInModelFacts).map((job: Job) => ({
    job: markDefaults(job, parsed.provided),
    offer,
  }));
  return judgeParameters(declared, parsed, { plan, models: builtInModelFacts, isStrict });
}

const VIDEO = { image_url: "https://example.com/beach.png" };

describe("values that Gesso fills in", () => {
  it("cause no warning and no refusal, even if the model has no field for them", () => {
    expect(judge("generateVideo", VIDEO)).toEqual([]);
    expect(judge("generateVideo", VIDEO, undefined, true)).toEqual([]);
  });

  it("are judged if the caller sends them", () => {
    expect(judge("generateVideo", { ...VIDEO, aspect_ratio: "16:9", duration: 3 })).toEqual([
      {
        field: "aspect_ratio",
        given: "16:9",
        used: undefined,
        message: "aspect_ratio is not supported by this model: 16:9 was ignored.",
      },
      {
        field: "duration",
        given: 3,
        used: 5,
        message: "duration was adjusted from 3 s to 5 s, the nearest that this model supports.",
      },
    ]);
  });
});

it("strict handling names field, given and used value of every change", () => {
  const thrown = (() => {
    try {
      judge("generateVideo", { ...VIDEO, seed: 7, duration: 3 }, undefined, true);
    } catch (fault) {
      return fault as Fault;
    }
  })();
  expect(thrown).toMatchObject({ code: "unsupported_parameter" });
  expect(thrown!.details.errors).toEqual([
    { path: "/seed", code: "unsupported_parameter", message: expect.stringContaining("7 was ignored"), given: 7 },
    { path: "/duration", code: "unsupported_parameter", message: expect.stringContaining("5 s"), given: 3, used: 5 },
  ]);
});

const LORAS = { lora_low_name: "ink-low", lora_high_name: "ink-high" };

it("a field that the model requires is never reported", () => {
  const wan = findOffer("fal", "fal-ai/wan/v2.2-a14b/text-to-image/lora");
  const input = { prompt: "a tree", model_type: "wan-image-2.2", model_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" };
  expect(judge("images.generate", { ...input, ...LORAS, width: 512, height: 512 }, wan, true)).toEqual([]);
});

it("a seed is reported by every model that has none", () => {
  for (const [provider, upstreamModel] of [
    ["gemini", "gemini-nano-banana-2.1"],
    ["openai", "gpt-image-2.5-flare"],
    ["fal", "fal-ai/gpt-image-1.5"],
    ["runway", "gpt_image_2"],
    ["replicate", "openai/gpt-image-1.5"],
  ] as const) {
    const changes = judge(
      "images.generate",
      { prompt: "a tree", model_type: "vendora", seed: 7 },
      findOffer(provider, upstreamModel),
    );
    expect(
      changes.map(({ field }) => field),
      `${provider} ${upstreamModel}`,
    ).toEqual(["seed"]);
  }
});
