// `npm run drill -- restore`: kills everything under load and restores PostgreSQL to an earlier point in time, from a
// base backup with archived WAL and from pgBackRest.
import { isShort, runCampaign } from "../support/campaign.ts";
import { startArchivedPostgres } from "./archived-postgres.ts";
import { startPgBackRestPostgres } from "./pgbackrest-postgres.ts";
import { pointInTimeRestore } from "./point-in-time-restore.ts";

const SIZE = isShort ? { perSecond: 5, before: 10, after: 5 } : { perSecond: 20, before: 30, after: 15 };

await runCampaign(
  "restore drill",
  { archive: (log) => pointInTimeRestore(SIZE, startArchivedPostgres, log) },
  { pgbackrest: (log) => pointInTimeRestore(SIZE, startPgBackRestPostgres, log) },
);
