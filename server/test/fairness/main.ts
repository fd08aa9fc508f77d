// `npm run proof -- fairness`: the effect of one tenant's flood on another, weights and rate limits, and behaviour
// under overload.
import { isShort, runCampaign } from "../support/campaign.ts";
import { measureNoisyNeighbour, weightedShares } from "./fair-shares.ts";
import { overloadCampaign } from "./overload.ts";
import { rateLimitCampaign } from "./rate-limits.ts";

const FLOOD = isShort
  ? { runs: 2000, seconds: 6, perSecond: 4, maxStartSeconds: 3 }
  : { runs: 28_000, seconds: 120, perSecond: 1, maxStartSeconds: 1 };

await runCampaign("fairness", {
  flood: () => measureNoisyNeighbour(FLOOD),
  weights: () => weightedShares({ runs: isShort ? 1000 : 3000 }),
  rates: () => rateLimitCampaign({ perMinute: 3000, seconds: isShort ? 10 : 120 }),
  overload: () => overloadCampaign({ seconds: isShort ? 6 : 30, atOnce: 300 }),
});
