// Schemas of archived runs.
import { z } from "zod";

const ArchivedRun = z.object({
  run_id: z.uuid().describe("ID of the run"),
  tenant_id: z.uuid().describe("Tenant of the run"),
  file: z.string().describe("Key of the file in the storage"),
  record: z
    .record(z.string(), z.unknown())
    .describe("The line of the file: the run with its requests, attempts, transfers and assets"),
});

export const ArchivedRunList = z.object({ data: z.array(ArchivedRun) }).meta({ id: "ArchivedRunList" });
export type ArchivedRunList = z.infer<typeof ArchivedRunList>;
