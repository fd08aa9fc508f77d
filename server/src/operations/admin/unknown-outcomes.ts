import { z } from "zod";
import { UnknownOutcomeList } from "../../contract/schemas/admin-repairs.ts";
import { listUnknownOutcomes } from "../../db/admin/unknown-outcomes.ts";
import { defineQuery } from "../define-query.ts";

const MICRODOLLARS = 1e6;
type RunStatus = UnknownOutcomeList["data"][number]["run_status"];

export const listUnknown = defineQuery({
  name: "admin.unknownOutcomes",
  summary: "List attempts of all tenants whose outcome is unknown and not settled, newest runs first (operator)",
  http: { method: "GET", path: "/admin/unknown-outcomes" },
  input: z.object({
    limit: z.int().min(1).max(100).default(20).describe("Items in the response, 1 to 100. Default: 20"),
    before: z.uuid().optional().describe("Only runs before this one: the last `run_id` of the previous response"),
  }),
  output: UnknownOutcomeList,
  example: { limit: 20 },
  async handle(page, { database }) {
    const rows = await listUnknownOutcomes(database, page);
    return {
      data: rows.map(({ request_index, attempt_number, price, unknown_since, status, ...row }) => ({
        ...row,
        ...{ job: request_index, try: attempt_number, run_status: status as RunStatus },
        price: price === null ? null : price / MICRODOLLARS,
        unknown_since: unknown_since.toISOString(),
      })),
    };
  },
});
