// `npm run proof -- webhooks`: checks that every message arrives, whatever receivers do and whichever process is
// killed; that the retry schedule is followed on the real engine; and that a dead receiver does not delay another.
import { isShort, runCampaign } from "../../support/campaign.ts";
import { retryScheduleCampaign } from "./retry-schedule.ts";
import { senderKillCampaign } from "./sender-kills.ts";
import { unresponsiveReceiverCampaign } from "./unresponsive-receiver.ts";

const KILLS = isShort ? { runs: 80, kills: 6, perSecond: 4 } : { runs: 2000, kills: 54, perSecond: 12 };

await runCampaign("webhooks", {
  kills: (log) => senderKillCampaign(KILLS, log),
  schedule: (log) => retryScheduleCampaign(isShort ? 0.0001 : 0.001, log),
  dead: (log) =>
    unresponsiveReceiverCampaign(isShort ? { waiting: 1000, live: 40 } : { waiting: 10_000, live: 300 }, log),
});
