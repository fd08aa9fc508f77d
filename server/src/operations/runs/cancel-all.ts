import { z } from "zod";
import { timestampField } from "../../contract/fields.ts";
import { runFilterFields } from "../../contract/run-filters.ts";
import { CanceledRuns } from "../../contract/schemas/library.ts";
import { type CancelDependencies, cancelMatchingRuns } from "../../library/cancel-runs.ts";
import { defineQuery } from "../define-query.ts";

export const cancelRuns = defineQuery({
  name: "runs.cancelAll",
  summary: "Cancel open runs by filter, at most 100 per request, oldest first",
  http: { method: "POST", path: "/runs/cancel", bodies: ["json"] },
  input: z.object({
    status: z.enum(["queued", "processing"]).describe("Cancel runs with this status"),
    ...runFilterFields,
    created_before: timestampField("Only runs accepted before this time").optional(),
  }),
  output: CanceledRuns,
  example: { status: "queued" },
  handle: (filter, request, services: CancelDependencies) => cancelMatchingRuns(services, request, filter),
});
