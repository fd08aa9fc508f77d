// `npm run webhooks:campaign`: whether every message arrives, whatever receivers do and whoever is killed; whether the whole
// schedule is kept on the real engine; and whether a dead receiver delays a live one.
import { isShort, runCampaign } from "../../campaign.ts";
import { deadReceiver } from "./dead.ts";
import { killedSenders } from "./kills.ts";
import { wholeSchedule } from "./schedule.ts";

const KILLS = isShort ? { runs: 80, kills: 6, perSecond: 8 } : { runs: 2000, kills: 50, perSecond: 12 };

await runCampaign("webhooks", {
  kills: (say) => killedSenders(KILLS, say),
  schedule: (say) => wholeSchedule(isShort ? 0.0001 : 0.001, say),
  dead: (say) => deadReceiver(isShort ? { waiting: 1000, live: 40 } : { waiting: 10_000, live: 300 }, say),
});
