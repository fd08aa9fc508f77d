// `npm run fairness`: what one tenant's flood does to another, whether weights and rate limits hold, and what happens under
// more load than there is room for.
import { isShort, runCampaign } from "../campaign.ts";
import { overload } from "./overload.ts";
import { rateLimits } from "./rates.ts";
import { floodBeside, unequalShares } from "./shares.ts";

const FLOOD = isShort
  ? { runs: 2000, seconds: 6, perSecond: 4, mostSeconds: 3 }
  : { runs: 28_000, seconds: 120, perSecond: 1, mostSeconds: 1 };

await runCampaign("fairness", {
  flood: () => floodBeside(FLOOD),
  weights: () => unequalShares({ runs: isShort ? 1000 : 3000 }),
  rates: () => rateLimits({ perMinute: 3000, seconds: isShort ? 10 : 120 }),
  overload: () => overload({ seconds: isShort ? 6 : 30, atOnce: 300 }),
});
