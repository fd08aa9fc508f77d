import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { SystemReport } from "../../kit/schemas/system.ts";

export const getSystem = defineOperation({
  name: "system.get",
  summary: "Get the state of the installation: the checks of `gesso doctor`, providers, queue and storage (operator)",
  http: { method: "GET", path: "/system" },
  input: z.object({}),
  output: SystemReport,
  example: {},
  respond: (_input, services) => services.system.get(),
});
