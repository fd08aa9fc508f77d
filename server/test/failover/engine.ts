// `npm run drill -- engine`: each node of a Restate cluster of three is killed under load, the first included; then two
// at once.
import { engineNodeLoss } from "../chaos/engine-node-loss.ts";
import { isShort, runCampaign } from "../support/campaign.ts";

await runCampaign("engine drill", {
  nodes: (log) =>
    engineNodeLoss(
      { perSecond: isShort ? 10 : 20, watchSeconds: isShort ? 6 : 15, losses: [[0], [1], [2], [0, 1], [1, 2]] },
      log,
    ),
});
