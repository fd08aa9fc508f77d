import { z } from "zod";
import { SystemReport } from "../../contract/schemas/system.ts";
import { reportSystem, type SystemDependencies } from "../../library/system-report.ts";
import { defineQuery } from "../define-query.ts";

export const getSystem = defineQuery({
  name: "system.get",
  summary: "Get the state of the installation: the checks of `gesso doctor`, providers, queue and storage (operator)",
  http: { method: "GET", path: "/system" },
  input: z.object({}),
  output: SystemReport,
  example: {},
  handle: (_input, request, services: SystemDependencies) => reportSystem(services, request),
});
