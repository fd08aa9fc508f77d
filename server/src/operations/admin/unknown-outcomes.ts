import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { UnknownOutcomeList } from "../../kit/schemas/admin-repairs.ts";

export const listUnknown = defineOperation({
  name: "admin.unknownOutcomes",
  summary: "List attempts of all tenants whose outcome is unknown and not settled, newest runs first (operator)",
  http: { method: "GET", path: "/admin/unknown-outcomes" },
  input: z.object({
    limit: z.int().min(1).max(100).default(20).describe("Items in the response, 1 to 100. Default: 20"),
    before: z.uuid().optional().describe("Only runs before this one: the last `run_id` of the previous response"),
  }),
  output: UnknownOutcomeList,
  example: { limit: 20 },
  respond: (page, services) => services.admin.listUnknownOutcomes(page),
});
