import { describe, expect, it } from "vitest";
import { createFakeProviders } from "../../../test/support/fake-providers.ts";
import { buildJobs } from "../../../test/support/operation-plans.ts";
import { generateImage } from "../../operations/images/generate.ts";
import { upscaleImage } from "../../operations/images/upscale.ts";
import { providers } from "../../providers/all.ts";
import { findBestOffer } from "../offers/select-offer.ts";
import { checkModelName, warnOfSuccessors } from "./model-name.ts";

const enable = (...ids: string[]) => ({
  providers: createFakeProviders(
    ...providers.filter(({ id }) => ids.includes(id)).map((provider) => ({ provider, env: {} })),
  ),
});

describe("a name of a model", () => {
  it("is refused at its field, with the nearest names", () => {
    const input = { prompt: "a boat", model_type: "nano-bananna-2" };
    expect(() => checkModelName(enable("fal"), generateImage, input, buildJobs(generateImage, input))).toThrow(
      expect.objectContaining({
        code: "validation_error",
        details: {
          errors: [
            {
              ...{ path: "/model_type", code: "unknown_value" },
              message: expect.stringMatching(
                /^There is no model nano-bananna-2 here\. Nearest names: nano-banana-2\.1, /,
              ),
            },
          ],
        },
      }),
    );
  });

  it("of an operation with the field model is refused there", () => {
    const input = { image_url: "https://example.com/a.png", model: "esrgann" };
    expect(() => checkModelName(enable("fal"), upscaleImage, input, buildJobs(upscaleImage, input))).toThrow(
      expect.objectContaining({ details: { errors: [expect.objectContaining({ path: "/model" })] } }),
    );
  });

  it("that the request leaves to Gesso is not judged", () => {
    const input = { image_url: "https://example.com/a.png" };
    expect(() => checkModelName(enable(), upscaleImage, input, buildJobs(upscaleImage, input))).not.toThrow();
  });
});

describe("a warning of a successor", () => {
  const warningsOf = (model_type: string, ...ids: string[]) => {
    const [job] = buildJobs(generateImage, { prompt: "a boat", model_type, aspect_ratio: "1:1" });
    return warnOfSuccessors([{ job: job!, resolved: findBestOffer(enable(...ids), job!)! }]);
  };

  it("has both names", () => {
    expect(warningsOf("vendorb-imagen4", "gemini")).toEqual([
      "vendorb-imagen4 stands for Imagen 4, which ended on 2026-08-17: Nano Banana 2.1 does the work.",
    ]);
  });

  it("is not given if the named model itself does the work, or the name stands for no ended model", () => {
    expect(warningsOf("vendorb-imagen4", "sandbox")).toEqual([]);
    expect(warningsOf("nanobanana", "gemini")).toEqual([]);
  });
});
