import { z } from "zod";
import { SettledOutcome, settledOutcomeFields } from "../../contract/schemas/admin-repairs.ts";
import { findRunToRepair } from "../../db/admin/repair-runs.ts";
import { settleUnknownOutcome } from "../../db/admin/unknown-outcomes.ts";
import { Fault } from "../../faults/faults.ts";
import { deriveId, toAttemptRef } from "../../runs/core/ids.ts";
import { isRunOpen } from "../../runs/show/render-run.ts";
import { defineQuery } from "../define-query.ts";

const MICRODOLLARS = 1e6;

export const settleOutcome = defineQuery({
  name: "admin.settle",
  summary: "Record what a provider charged for an attempt whose outcome is unknown (operator)",
  http: { method: "POST", path: "/admin/runs/:run_id/settle", bodies: ["json"] },
  changes: "money",
  input: z.object({ run_id: z.uuid().describe("ID of the run"), ...settledOutcomeFields }),
  output: SettledOutcome,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", job: 0, try: 1, charged: 0 },
  async handle({ run_id, job, try: attemptNumber, charged }, { database, caller }) {
    const run = await findRunToRepair(database, run_id);
    if (!run) throw new Fault("run_not_found");
    const charge = Math.round(charged * MICRODOLLARS);
    const attempt = toAttemptRef(run_id, job, attemptNumber);
    const transfer_id = deriveId(run_id, "settle", job, attemptNumber);
    const recorded = await settleUnknownOutcome(database, caller, { ...attempt, charge, transfer_id });
    if (recorded === undefined) {
      const reason = isRunOpen(run) ? "run_open" : "nothing_to_settle";
      throw new Fault("conflict", { retryable: false, reason });
    }
    return { run_id, job, try: attemptNumber, charged: charge / MICRODOLLARS, recorded: recorded / MICRODOLLARS };
  },
});
