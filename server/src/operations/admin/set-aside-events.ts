import { z } from "zod";
import { SetAsideEventList } from "../../contract/schemas/admin-repairs.ts";
import { listSetAsideEvents } from "../../db/webhooks/set-aside-events.ts";
import { defineQuery } from "../define-query.ts";

export const listSetAside = defineQuery({
  name: "admin.setAsideEvents",
  summary: "List events of all tenants that cannot become webhook messages and are tried again (operator)",
  http: { method: "GET", path: "/admin/events" },
  input: z.object({
    limit: z.int().min(1).max(100).default(20).describe("Items in the response, 1 to 100. Default: 20"),
  }),
  output: SetAsideEventList,
  example: { limit: 20 },
  async handle({ limit }, { database }) {
    const rows = await listSetAsideEvents(database, limit);
    return { data: rows.map(({ retry_at, ...row }) => ({ ...row, retry_at: retry_at.toISOString() })) };
  },
});
