import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { atMostOne } from "../../kit/rules.ts";
import { endedRunFilterFields, runFilterFields } from "../../kit/run-filters.ts";
import { RunHistogram } from "../../kit/schemas/library.ts";

const filters = {
  status: z.enum(["completed", "failed", "canceled"]).optional().describe("Only runs that ended with this status"),
  ...runFilterFields,
  ...endedRunFilterFields,
};

export const getRunHistogram = defineOperation({
  name: "runs.histogram",
  summary: "Count runs by month. New and ended runs are counted within seconds",
  http: { method: "GET", path: "/runs/histogram" },
  input: z.object(filters),
  rules: [atMostOne(...Object.keys(filters))],
  output: RunHistogram,
  example: {},
  respond: (input, services) => services.runs.histogram(input),
});
