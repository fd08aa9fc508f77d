import { z } from "zod";
import { timestampField } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { runFilterFields } from "../../kit/run-filters.ts";
import { CanceledRuns } from "../../kit/schemas/library.ts";

export const cancelRuns = defineOperation({
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
  respond: (input, services) => services.runs.cancelAll(input),
});
