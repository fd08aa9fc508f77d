// `npm run chaos`: kills every component, injects every other kind of fault, and compares all records afterwards.
// `--short` is the version of CI, `--only NAME` runs one campaign, `--at NAME` limits it to one crash point or fault.
import { isShort, runCampaign } from "../support/campaign.ts";
import { failingVendorCampaign } from "./failing-vendor.ts";
import { deadlineCampaign, injectedFaultCampaign } from "./injected-faults.ts";
import { engineNodeLoss, killsAtCrashPoints, lostEngineJournal, randomKills } from "./process-kills.ts";
import { vendorKillCampaign } from "./vendor-kills.ts";

const KILLS = isShort
  ? { runs: 60, kills: 10, deep: 2, mayDrop: true, hasCluster: false }
  : { runs: 1200, kills: 120, deep: 24, mayDrop: true, hasCluster: true };
const FAULTS = isShort ? { rounds: 1, perSecond: 2, hasCluster: false } : { rounds: 2, perSecond: 3, hasCluster: true };

await runCampaign("chaos", {
  random: (log) => randomKills(KILLS, log),
  faults: (log) => injectedFaultCampaign(FAULTS, log),
  aimed: (log) => killsAtCrashPoints(isShort ? 1 : 3, log),
  deadline: (log) => deadlineCampaign(isShort ? 8 : 24, log),
  memory: (log) => lostEngineJournal(isShort ? 30 : 100, log),
  cluster: (log) => engineNodeLoss({ perSecond: isShort ? 10 : 20, watchSeconds: isShort ? 6 : 10 }, log),
  breaker: (log) => failingVendorCampaign({ seconds: isShort ? 5 : 20, isTimed: !isShort }, log),
  vendors: (log) => vendorKillCampaign(isShort ? 60 : 300, log),
});
