import { describe, expect, it } from "vitest";
import { buildJobs, listValidationErrors, RUN_ID } from "../../../test/support/operation-plans.ts";
import { enhancePrompt } from "./enhance.ts";

describe("an enhanced prompt", () => {
  it("is requested for its target model, in the requested style and language", () => {
    const job = { task: "prompt.enhance", model: "enhance-default", prompt: "a cat" };
    expect(buildJobs(enhancePrompt, { prompt: "a cat" })).toEqual([{ ...job, options: { model_type: "flux-dev" } }]);
    expect(
      buildJobs(enhancePrompt, { prompt: "a cat", model_type: "vendora", style: "ink", language: "de", seed: 1 }),
    ).toEqual([{ ...job, seed: 1, options: { model_type: "vendora", style: "ink", language: "de" } }]);
  });

  it("is returned beside the original", () => {
    const run = {
      run_id: RUN_ID,
      status: "completed",
      inputs: { prompt: "a cat", model_type: "flux-dev" },
      error: null,
    };
    const data = { enhanced_prompt: "a cat, in ink", changes: [{ kind: "style", added: "in ink" }] };
    expect(enhancePrompt.renderResponse!(run as never, { jobs: [], data })).toEqual({
      run_id: RUN_ID,
      status: "completed",
      prompt: "a cat",
      model_type: "flux-dev",
      ...data,
    });
  });

  it("needs a prompt", () => expect(listValidationErrors(enhancePrompt, {})).toEqual(["/prompt required"]));
});
