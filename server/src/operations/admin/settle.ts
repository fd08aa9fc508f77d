import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { SettledOutcome, settledOutcomeFields } from "../../kit/schemas/admin-repairs.ts";

export const settleOutcome = defineOperation({
  name: "admin.settle",
  summary: "Record what a provider charged for an attempt whose outcome is unknown (operator)",
  http: { method: "POST", path: "/admin/runs/:run_id/settle", bodies: ["json"] },
  changes: "money",
  input: z.object({ run_id: z.uuid().describe("ID of the run"), ...settledOutcomeFields }),
  output: SettledOutcome,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", job: 0, try: 1, charged: 0 },
  respond: (outcome, services) => services.admin.settle(outcome),
});
