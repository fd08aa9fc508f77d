// `npm run drill -- failover`: kills the primary of PostgreSQL under load and promotes its synchronous standby.
import { isShort, runCampaign } from "../support/campaign.ts";
import { databaseFailover } from "./database-failover.ts";

await runCampaign("failover drill", {
  database: (log) =>
    databaseFailover(
      isShort
        ? { perSecond: 20, before: 4, after: 6, detection: 2 }
        : { perSecond: 50, before: 10, after: 15, detection: 5 },
      log,
    ),
});
