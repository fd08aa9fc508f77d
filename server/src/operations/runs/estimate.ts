import { z } from "zod";
import { textField } from "../../contract/fields.ts";
import { Estimate } from "../../contract/schemas/library.ts";
import { estimateJobs, planOperation } from "../../runs/accept/estimate.ts";
import type { ImportedModelDependencies } from "../../runs/accept/model-name.ts";
import type { OfferDependencies } from "../../runs/offers/select-offer.ts";
import type { StoredSources } from "../../runs/sources/source-files.ts";
import { addSourceSizes } from "../../runs/sources/source-sizes.ts";
import { defineQuery } from "../define-query.ts";

type EstimateDependencies = OfferDependencies & StoredSources & ImportedModelDependencies;

export const estimateRun = defineQuery({
  name: "runs.estimate",
  summary: "Estimate the cost of a run without creating it",
  http: { method: "POST", path: "/runs/estimate", bodies: ["json"] },
  input: z.object({
    operation: textField("Name of the operation, such as images.generate", 128),
    input: z
      .record(z.string(), z.unknown())
      .describe("Input of the operation")
      // The input can contain base64 images, as in the operation itself.
      .meta({ "x-inline": true }),
  }),
  output: Estimate,
  example: { operation: "images.generate", input: { prompt: "a red bicycle by the sea", batch_size: 2 } },
  async handle({ operation, input }, { caller }, services: EstimateDependencies) {
    const plan = await planOperation(services, operation, input, caller.tenant_id);
    return estimateJobs(services, await addSourceSizes(services, caller.tenant_id, plan, []));
  },
});
