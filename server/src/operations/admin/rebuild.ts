import { z } from "zod";
import { type PauseDependencies, rebuildEngine } from "../../admin/pauses.ts";
import { RebuiltEngine } from "../../contract/schemas/admin-repairs.ts";
import { defineQuery } from "../define-query.ts";

export const rebuild = defineQuery({
  name: "admin.rebuild",
  summary: "Return all dispatched runs and webhook deliveries to the queue, after a loss of Restate (operator)",
  http: { method: "POST", path: "/admin/rebuild" },
  changes: "installation",
  input: z.object({}),
  output: RebuiltEngine,
  example: {},
  handle: (_input, request, services: PauseDependencies) => rebuildEngine(services, request),
});
