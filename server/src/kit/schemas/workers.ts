// Schemas of the workers of an installation, for operators.
import { z } from "zod";

export const WorkerList = z
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
export type WorkerList = z.infer<typeof WorkerList>;
