// `npm run proof -- chaos`: kills every component, injects every other kind of fault, and compares all records
// afterwards. `--short` is the version of CI, `--only NAME` runs one campaign, `--at NAME` limits it to one crash point
// or fault.
import { isShort, type Log, runCampaign } from "../support/campaign.ts";
import { engineNodeLoss } from "./engine-node-loss.ts";
import { failingVendorCampaign } from "./failing-vendor.ts";
import { FAULT_KINDS, type FaultName } from "./fault-kinds.ts";
import { deadlineCampaign, injectedFaultCampaign } from "./injected-faults.ts";
import { longWaits } from "./long-waits.ts";
import { OUTAGES, outageCampaign, SHORT_OUTAGES } from "./outages.ts";
import { killsAtCrashPoints, lostEngineJournal, randomKills } from "./process-kills.ts";
import { signedOutputs } from "./signed-outputs.ts";
import { vendorKillCampaign } from "./vendor-kills.ts";

const KILLS = isShort
  ? { runs: 40, kills: 8, deep: 2, mayDrop: true, hasCluster: false }
  : { runs: 900, kills: 140, deep: 28, mayDrop: true, hasCluster: true };
/** Those that found most. CI has no time for the others. */
const SHORT_FAULTS: FaultName[] = ["stopped_worker", "commit_swallowed", "engine_partition", "storage_read_only"];
const FAULTS = isShort
  ? { rounds: 1, perSecond: 2, hasCluster: false, kinds: SHORT_FAULTS }
  : { rounds: 2, perSecond: 3, hasCluster: true, kinds: Object.keys(FAULT_KINDS) as FaultName[] };

const SIGNING = isShort ? { perSecond: 2, kills: 2, outageSeconds: 6 } : { perSecond: 4, kills: 60, outageSeconds: 20 };

const WAITS = isShort
  ? { queued: 60, limited: 20, perSecond: 10, seconds: 20 }
  : { queued: 10_000, limited: 200, perSecond: 50, seconds: 900 };

const breaker = (log: Log) => failingVendorCampaign({ seconds: isShort ? 5 : 20, isTimed: !isShort }, log);
const signing = (log: Log) => signedOutputs(SIGNING, log);

/**
 * Deadlines, a lost journal, and the leases of workers that were killed at a crash point are mostly waited for, so
 * these campaigns run at the same time as another one.
 */
await runCampaign(
  "chaos",
  { random: (log) => randomKills(KILLS, log) },
  {
    faults: (log) => injectedFaultCampaign(FAULTS, log),
    deadline: (log) => deadlineCampaign(isShort ? 8 : 24, log),
    memory: (log) => lostEngineJournal(isShort ? 30 : 100, log),
  },
  {
    outages: (log) => outageCampaign({ outages: isShort ? SHORT_OUTAGES : OUTAGES, perSecond: isShort ? 3 : 2 }, log),
  },
  {
    aimed: (log) => killsAtCrashPoints(isShort ? 1 : 3, log),
    vendors: (log) => vendorKillCampaign(isShort ? 50 : 300, log),
  },
  {
    cluster: (log) =>
      engineNodeLoss({ perSecond: isShort ? 10 : 20, watchSeconds: isShort ? 6 : 10, losses: [[1], [2]] }, log),
  },
  ...(isShort ? [{ breaker, signing }] : [{ breaker }, { signing }]),
  { waits: (log) => longWaits(WAITS, log) },
);
