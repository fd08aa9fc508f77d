// `npm run chaos`: kills every component and compares the ledgers.
import { isShort, runCampaign } from "../support/campaign.ts";
import { failingVendorCampaign } from "./failing-vendor.ts";
import { engineNodeLoss, killsAtCrashPoints, lostEngineJournal, randomKills } from "./process-kills.ts";
import { vendorKillCampaign } from "./vendor-kills.ts";

const KILLS = isShort
  ? { runs: 60, kills: 10, deep: 2, mayDrop: true }
  : { runs: 500, kills: 48, deep: 12, mayDrop: false };

await runCampaign("chaos", {
  random: (log) => randomKills(KILLS, log),
  aimed: (log) => killsAtCrashPoints(isShort ? 1 : 3, log),
  memory: (log) => lostEngineJournal(isShort ? 30 : 100, log),
  cluster: (log) => engineNodeLoss({ perSecond: isShort ? 10 : 20, watchSeconds: isShort ? 6 : 10 }, log),
  breaker: (log) => failingVendorCampaign({ seconds: isShort ? 5 : 20, isTimed: !isShort }, log),
  vendors: (log) => vendorKillCampaign(isShort ? 60 : 300, log),
});
