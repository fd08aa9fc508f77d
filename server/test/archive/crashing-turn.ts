// One turn of the archive in a process that kills itself after a file was written and before its rows are deleted.
import { archiveHistory } from "../../src/runs/upkeep/archive.ts";
import { createArchiveServices } from "./archive-services.ts";

const [databaseUrl = "", folder = "", now = ""] = process.argv.slice(2);
const { services, clock, database } = createArchiveServices(databaseUrl, folder, { isCrashing: true });
clock.at = Number(now);
await archiveHistory(services);
// Nothing was due.
await database.close();
