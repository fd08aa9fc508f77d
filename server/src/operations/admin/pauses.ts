import { z } from "zod";
import { listPausedParts } from "../../admin/pauses.ts";
import { PauseList } from "../../contract/schemas/admin-repairs.ts";
import { defineQuery } from "../define-query.ts";

export const listPausesOfInstallation = defineQuery({
  name: "admin.pauses",
  summary: "List the paused providers, tenants, background duties and workers (operator)",
  http: { method: "GET", path: "/admin/pauses" },
  input: z.object({}),
  output: PauseList,
  example: {},
  handle: (_input, request) => listPausedParts(request),
});
