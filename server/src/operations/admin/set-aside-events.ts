import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { SetAsideEventList } from "../../kit/schemas/admin-repairs.ts";

export const listSetAside = defineOperation({
  name: "admin.setAsideEvents",
  summary: "List events of all tenants that cannot become webhook messages and are tried again (operator)",
  http: { method: "GET", path: "/admin/events" },
  input: z.object({
    limit: z.int().min(1).max(100).default(20).describe("Items in the response, 1 to 100. Default: 20"),
  }),
  output: SetAsideEventList,
  example: { limit: 20 },
  respond: ({ limit }, services) => services.admin.listSetAsideEvents(limit),
});
