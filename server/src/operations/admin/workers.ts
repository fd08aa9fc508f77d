import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { WorkerList } from "../../kit/schemas/workers.ts";

export const listWorkersOfInstallation = defineOperation({
  name: "admin.workers",
  summary: "List the running workers with their version, their state and the runs that they execute (operator)",
  http: { method: "GET", path: "/admin/workers" },
  input: z.object({}),
  output: WorkerList,
  example: {},
  respond: (_input, services) => services.admin.listWorkers(),
});
