// `npm run drill:restore`: kills everything under load and restores PostgreSQL to an earlier point in time.
import { isShort, runCampaign } from "../support/campaign.ts";
import { pointInTimeRestore } from "./point-in-time-restore.ts";

await runCampaign("restore drill", {
  restore: (log) =>
    pointInTimeRestore(
      isShort ? { perSecond: 5, before: 10, after: 5 } : { perSecond: 20, before: 30, after: 15 },
      log,
    ),
});
