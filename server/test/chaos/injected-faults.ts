// The campaign of faults other than kills: stopped processes, partitions, swallowed responses, storage that refuses
// writes and shifted clocks, one after the other under load. And the campaign of runs that meet their deadline.
import { setTimeout as pause } from "node:timers/promises";
import { type CampaignReport, type CheckResult, type Log, onlyPoint } from "../support/campaign.ts";
import { type ChaosEnvironment, startChaosEnvironment } from "./chaos-environment.ts";
import { checkCanceledCharges, checkLedgerInvariants } from "./check-charges.ts";
import { checkEngine } from "./check-engine.ts";
import { checkInvariants } from "./check-invariants.ts";
import { FAULT_KINDS, type FaultName } from "./fault-kinds.ts";
import { CHAOS_ENV, createRunRequest, waitForAttempts } from "./process-kills.ts";
import { type PostedRun, postRun, postWhile, RECOVERY_CLASSES, waitUntilAllEnded } from "./run-load.ts";
import { listSandboxJobs } from "./vendor-jobs.ts";

/** Submissions are slow enough that a fault meets some of them before the vendor has accepted the job. */
const SLOW_ACCEPTANCE = "[sandbox:accept_delay=6]";

export async function injectedFaultCampaign(
  size: { rounds: number; perSecond: number; hasCluster: boolean; kinds: FaultName[] },
  log: Log,
): Promise<CampaignReport> {
  const kinds = Object.entries(FAULT_KINDS).filter(([name]) =>
    onlyPoint === undefined ? size.kinds.includes(name as FaultName) : onlyPoint === name,
  );
  const environment = await startChaosEnvironment({
    roles: "split",
    secondWorker: true,
    hasBucket: kinds.some(([name]) => name.startsWith("storage")),
    hasProxies: true,
    cluster: size.hasCluster,
    env: CHAOS_ENV,
  });
  environment.openai.switches.workMs = 500;
  try {
    let isOver = false;
    const slowRuns: PostedRun[] = [];
    const submitSlowly = async () => {
      const orders = Array.from({ length: 6 }, (_, index) => ({
        class: (["B", "C"] as const)[index % 2]!,
        prompt: `${SLOW_ACCEPTANCE} ${index}`,
      }));
      const posts = await Promise.all(orders.map((order) => postRun(environment, order)));
      slowRuns.push(...posts);
      await waitForAttempts(environment, posts);
      await pause(300);
    };
    const loading = postWhile(environment, () => !isOver, size.perSecond, createLoadRequest);
    for (let round = 0; round < size.rounds; round++) {
      for (const [name, inject] of kinds) {
        await pause(2500);
        const hits = await environment.faults.during(name, () => inject(environment, submitSlowly));
        environment.faults.addHits(name, hits);
        log(`${name}, round ${round + 1}: ${JSON.stringify(hits)}`);
      }
    }
    await pause(1000);
    isOver = true;
    const posted = [...(await loading), ...slowRuns];
    await waitUntilAllEnded(environment, 240);
    return {
      name: `${posted.length} runs, ${kinds.length} kinds of faults, each injected ${size.rounds} times`,
      results: [...(await checkInvariants(environment, posted)), environment.faults.checkHits()],
      notes: [`faults: ${environment.faults.summary()}`],
      counts: { runs: posted.length, kills: environment.faults.killCount() },
    };
  } finally {
    await environment.stop();
  }
}

const createLoadRequest = (index: number) => {
  const order = createRunRequest(index, false);
  return index % 3 === 0 && order.class !== "D" ? { ...order, prompt: `${SLOW_ACCEPTANCE} ${index}` } : order;
};

const DEADLINE_SECONDS = 8;
/** Late enough that most jobs have been submitted. */
const CANCEL_AFTER_MS = 4000;
/** The watchdog ends a run 20 s after its deadline and looks every 5 s; the rest is for a busy machine. */
const MAX_SECONDS = DEADLINE_SECONDS + 20 + 5 + 10;

/**
 * A request that is under way at the deadline is not given up, because its result would be paid for: the run ends with
 * it. This vendor responds long after the deadline.
 */
const SYNCHRONOUS_SECONDS = DEADLINE_SECONDS + 15;

/**
 * Vendors accept the jobs and never end them: some runs are canceled, all others fail at their deadline. The jobs are
 * canceled at the vendor.
 */
export async function deadlineCampaign(runs: number, log: Log): Promise<CampaignReport> {
  const environment = await startChaosEnvironment({
    roles: "split",
    env: { ...CHAOS_ENV, RUN_DEADLINE_SECONDS: String(DEADLINE_SECONDS) },
  });
  Object.assign(environment.openai.switches, { outcome: "failed", workMs: SYNCHRONOUS_SECONDS * 1000 });
  try {
    const posted = await Promise.all(
      Array.from({ length: runs }, (_, index) => {
        const recoveryClass = RECOVERY_CLASSES[index % 4]!;
        const isCanceled = index >= runs / 2 && recoveryClass !== "D";
        return postRun(environment, {
          class: recoveryClass,
          prompt: `[sandbox:never] deadline ${index}`,
          ...(isCanceled && { cancelAfterMs: CANCEL_AFTER_MS }),
        });
      }),
    );
    log(`${runs} runs whose jobs never end`);
    await waitUntilAllEnded(environment, MAX_SECONDS * 2);
    await pause(5000);
    return {
      name: `${runs} runs that meet their deadline`,
      results: await checkDeadlines(environment, posted),
      notes: [],
      counts: { runs, kills: 0 },
    };
  } finally {
    await environment.stop();
  }
}

type EndedRun = { run_id: string; status: string; code: string | null; seconds: number };

async function checkDeadlines(environment: ChaosEnvironment, posted: PostedRun[]): Promise<CheckResult[]> {
  const rows = await environment.query<EndedRun>(
    `select run_id, status, error->>'code' as code,
       extract(epoch from coalesce(finished_at, now()) - created_at)::float as seconds from runs`,
  );
  const isCanceled = new Map(posted.map((post) => [post.run_id, post.isCancelRequested]));
  const late = rows.filter(
    ({ run_id, status, seconds }) =>
      status !== (isCanceled.get(run_id) ? "canceled" : "failed") || seconds > MAX_SECONDS,
  );
  const slowest = Math.max(...rows.map(({ seconds }) => seconds));
  const codes = [...new Set(rows.map(({ code }) => code))].join(", ");
  const jobs = await listSandboxJobs(environment);
  const running = jobs.filter(({ status }) => status !== "canceled");
  return [
    {
      invariant: `every run ends, at most ${MAX_SECONDS} s after its start with a deadline of ${DEADLINE_SECONDS} s`,
      passed: late.length === 0 && rows.length === posted.length,
      observed: `${rows.length} runs, ${late.length} late, the slowest ${slowest.toFixed(1)} s; ${codes}`,
    },
    {
      invariant: "the jobs of these runs are canceled at the vendor",
      passed: running.length === 0 && jobs.length > 0,
      observed: `${running.length} of ${jobs.length} still running`,
    },
    await checkCanceledCharges(environment),
    ...(await checkLedgerInvariants(environment)),
    await checkEngine(environment),
  ];
}
