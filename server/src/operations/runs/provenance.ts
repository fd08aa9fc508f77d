import { z } from "zod";
import { runId } from "../../contract/fields.ts";
import { RunProvenance } from "../../contract/schemas/provenance.ts";
import { type ProvenanceReportDependencies, reportRunProvenance } from "../../library/provenance.ts";
import { requireOwnRun } from "../../runs/show/own-run.ts";
import { defineQuery } from "../define-query.ts";

export const getRunProvenance = defineQuery({
  name: "runs.provenance",
  summary: "Get what the outputs of a run say about their origin: signer, actions and ingredients, verified now",
  http: { method: "GET", path: "/runs/:run_id/provenance" },
  input: z.object({ run_id: runId("ID of the run") }),
  output: RunProvenance,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  handle: async ({ run_id }, request, services: ProvenanceReportDependencies) =>
    reportRunProvenance(services, request, await requireOwnRun(request, run_id)),
});
