// The loss of nodes of a Restate cluster under load. One of three nodes may be lost without a long stall. While two are
// lost, the API accepts runs and none ends; they continue when the nodes are back.
import { setTimeout as pause } from "node:timers/promises";
import type { CampaignReport, CheckResult, Log } from "../support/campaign.ts";
import type { DisturbanceFigures } from "./drill-figures.ts";
import { runLoadDrill } from "./load-drill.ts";

/** The nodes are down for the watch, and it takes as long until the next loss. `losses`: indexes of nodes. */
type NodeLossSize = { perSecond: number; watchSeconds: number; losses: number[][] };

/** With one node lost. */
const MAX_STALL_SECONDS = 5;
/** Once a quorum is back. */
const MAX_RESUME_SECONDS = 30;

const nameOf = (nodes: number[]) => `kill engine node ${nodes.map((index) => index + 1).join(" and ")}`;

export const engineNodeLoss = (size: NodeLossSize, log: Log): Promise<CampaignReport> =>
  runLoadDrill(
    {
      name: `three engine nodes, ${size.losses.length} losses`,
      perSecond: size.perSecond,
      before: 3 + size.watchSeconds,
      environment: { cluster: true },
      async perform({ environment, disturb }) {
        const { nodes, start } = environment.cluster!;
        for (const lost of size.losses) {
          await disturb(nameOf(lost), async () => {
            await Promise.all(lost.map((index) => nodes[index]!.kill("SIGKILL")));
            await pause(size.watchSeconds * 1000);
          });
          await Promise.all(lost.map((index) => start(index)));
          await pause(size.watchSeconds * 1000);
        }
      },
      check: (figures) => [
        ...size.losses.map((lost, index) => checkLoss(figures[index], lost)),
        {
          invariant: "the API accepts runs, whichever nodes are lost",
          passed: figures.every(({ refusals }) => Object.keys(refusals).length === 0),
          observed: figures.map(({ refusals }) => JSON.stringify(refusals)).join(", "),
        },
      ],
    },
    log,
  );

function checkLoss(figures: DisturbanceFigures | undefined, lost: number[]): CheckResult {
  const hasQuorum = lost.length === 1;
  const bound = (hasQuorum ? MAX_STALL_SECONDS : MAX_RESUME_SECONDS) * 1000;
  const observed = (hasQuorum ? figures?.stallMs : figures?.endedAfterMs) ?? Number.POSITIVE_INFINITY;
  return {
    // Runs that never end again are lost; late ones are only late.
    kind: Number.isFinite(observed) ? "speed" : "safety",
    invariant: `${nameOf(lost)}: ${hasQuorum ? "no stall of" : "runs end again within"} ${bound / 1000} s`,
    passed: observed < bound,
    observed: `${(observed / 1000).toFixed(1)} s`,
  };
}
