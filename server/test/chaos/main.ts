// `npm run chaos`: kills everything that can be killed and compares the books.
import { isShort, runCampaign } from "../campaign.ts";
import { failingVendor } from "./breaker.ts";
import { aimedKills, clusterLoss, lostMemory, randomKills } from "./campaigns.ts";
import { vendorKills } from "./vendors.ts";

const KILLS = isShort
  ? { runs: 60, kills: 10, deep: 2, mayDrop: true }
  : { runs: 500, kills: 48, deep: 12, mayDrop: false };

await runCampaign("chaos", {
  random: (say) => randomKills(KILLS, say),
  aimed: (say) => aimedKills(isShort ? 1 : 3, say),
  memory: (say) => lostMemory(isShort ? 30 : 100, say),
  cluster: (say) => clusterLoss({ perSecond: isShort ? 10 : 20, watchSeconds: isShort ? 6 : 10 }, say),
  breaker: (say) => failingVendor({ seconds: isShort ? 5 : 20, isTimed: !isShort }, say),
  vendors: (say) => vendorKills(isShort ? 60 : 300, say),
});
