// `npm run drill -- upgrade`: upgrades and rolls back with runs in progress.
import { isShort, runCampaign } from "../support/campaign.ts";
import { rollingUpgrade } from "./rolling-upgrade.ts";

await runCampaign("upgrade drill", {
  rolling: (log) => rollingUpgrade(isShort ? { runs: 100, seconds: 6 } : { runs: 400, seconds: 20 }, log),
});
