import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { RebuiltEngine } from "../../kit/schemas/admin-repairs.ts";

export const rebuild = defineOperation({
  name: "admin.rebuild",
  summary: "Return all dispatched runs and webhook deliveries to the queue, after a loss of Restate (operator)",
  http: { method: "POST", path: "/admin/rebuild" },
  changes: "installation",
  input: z.object({}),
  output: RebuiltEngine,
  example: {},
  respond: (_input, services) => services.admin.rebuild(),
});
