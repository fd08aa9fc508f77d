// `npm run drill -- retention`: archives a year of history day by day, with kills between the file and the deletion.
import { isShort, runCampaign } from "../support/campaign.ts";
import { archiveYear } from "./archive-year.ts";

await runCampaign("retention drill", {
  year: (log) => archiveYear(isShort ? { runsPerDay: 10, killEvery: 30 } : { runsPerDay: 100, killEvery: 7 }, log),
});
