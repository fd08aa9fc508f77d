import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { PauseList } from "../../kit/schemas/admin-repairs.ts";

export const listPausesOfInstallation = defineOperation({
  name: "admin.pauses",
  summary: "List the paused providers, tenants, background duties and workers (operator)",
  http: { method: "GET", path: "/admin/pauses" },
  input: z.object({}),
  output: PauseList,
  example: {},
  respond: (_input, services) => services.admin.listPauses(),
});
