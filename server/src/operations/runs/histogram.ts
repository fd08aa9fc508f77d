import { z } from "zod";
import { atMostOne } from "../../contract/rules.ts";
import { endedRunFilterFields, runFilterFields } from "../../contract/run-filters.ts";
import { RunHistogram } from "../../contract/schemas/library.ts";
import { countRunsByMonth, countRunsOfEndUser } from "../../db/search/run-index.ts";
import { countedTerm } from "../../db/search/search-terms.ts";
import { defineQuery } from "../define-query.ts";

const filters = {
  status: z.enum(["completed", "failed", "canceled"]).optional().describe("Only runs that ended with this status"),
  ...runFilterFields,
  ...endedRunFilterFields,
};

export const getRunHistogram = defineQuery({
  name: "runs.histogram",
  summary: "Count runs by month. New and ended runs are counted within seconds",
  http: { method: "GET", path: "/runs/histogram" },
  input: z.object(filters),
  rules: [atMostOne(...Object.keys(filters))],
  output: RunHistogram,
  example: {},
  async handle(filter, { database, caller: { tenant_id, token } }) {
    if (token) return { data: await countRunsOfEndUser(database, { tenant_id, end_user: token.end_user }, filter) };
    return { data: await countRunsByMonth(database, tenant_id, countedTerm(filter)) };
  },
});
