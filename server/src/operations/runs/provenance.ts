import { z } from "zod";
import { runId } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { RunProvenance } from "../../kit/schemas/provenance.ts";

export const getRunProvenance = defineOperation({
  name: "runs.provenance",
  summary: "Get what the outputs of a run say about their origin: signer, actions and ingredients, verified now",
  http: { method: "GET", path: "/runs/:run_id/provenance" },
  input: z.object({ run_id: runId("ID of the run") }),
  output: RunProvenance,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: (input, services) => services.provenance.reportRun(input.run_id),
});
