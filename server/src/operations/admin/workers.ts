import { z } from "zod";
import { listWorkers } from "../../db/admin/workers.ts";
import { defineQuery } from "../define-query.ts";

const WorkerList = z
  .object({
    data: z.array(
      z.object({
        worker_id: z.uuid().describe("ID of the process. A process that is started again has another one"),
        host: z.string().describe("Host name of its machine or container"),
        version: z.string().describe("Version of Gesso"),
        url: z.string().describe("URL at which Restate reaches workers of this build"),
        state: z
          .enum(["serving", "draining", "drained"])
          .describe("`draining`: it ends the runs that it has. `drained`: it has none and can be stopped"),
        runs: z.int().describe("Runs that it executes now. Runs that wait for a provider for long are on no worker"),
        started_at: z.iso.datetime(),
        draining_since: z.iso.datetime().nullable().describe("When an operator paused it. null: not paused"),
      }),
    ),
  })
  .meta({ id: "WorkerList" });

export const listWorkersOfInstallation = defineQuery({
  name: "admin.workers",
  summary: "List the running workers with their version, their state and the runs that they execute (operator)",
  http: { method: "GET", path: "/admin/workers" },
  input: z.object({}),
  output: WorkerList,
  example: {},
  async handle(_input, { database }) {
    const rows = await listWorkers(database);
    return {
      data: rows.map(({ started_at, draining_since, ...row }) => ({
        ...row,
        started_at: started_at.toISOString(),
        draining_since: draining_since?.toISOString() ?? null,
      })),
    };
  },
});
