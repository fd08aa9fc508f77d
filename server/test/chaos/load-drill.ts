// A drill under load: runs of every recovery class are posted at a steady rate while the drill disturbs a component.
// Afterwards all records are compared, as in every campaign, and the figures of each disturbance are reported.
import { setTimeout as pause } from "node:timers/promises";
import type { CampaignReport, CheckResult, Log } from "../support/campaign.ts";
import { restartCheck, serverPids } from "../support/server-processes.ts";
import { type ChaosEnvironment, type ChaosOptions, startChaosEnvironment } from "./chaos-environment.ts";
import { checkInvariants } from "./check-invariants.ts";
import {
  type Disturbance,
  type DisturbanceFigures,
  describeDisturbance,
  describeTotals,
  measureDrill,
} from "./drill-figures.ts";
import { CHAOS_ENV } from "./process-kills.ts";
import { postWhile, RECOVERY_CLASSES, waitUntilAllEnded } from "./run-load.ts";

export type Drill = {
  environment: ChaosEnvironment;
  /** Performs a disturbance. Its figures cover the time until the next one begins. */
  disturb<T>(name: string, work: () => Promise<T>): Promise<T>;
};

export type DrillPlan = {
  name: string;
  perSecond: number;
  /** Seconds of load before the first disturbance. */
  before: number;
  /** Seconds in which the last runs may end. Default: 240. */
  settleSeconds?: number;
  environment?: ChaosOptions;
  perform(drill: Drill): Promise<void>;
  /** Bounds on the figures of this drill. */
  check(figures: DisturbanceFigures[]): CheckResult[];
};

export async function runLoadDrill(plan: DrillPlan, log: Log): Promise<CampaignReport> {
  const { env, ...options } = plan.environment ?? {};
  const environment = await startChaosEnvironment({ roles: "split", ...options, env: { ...CHAOS_ENV, ...env } });
  environment.openai.switches.workMs = 500;
  const disturbances: Disturbance[] = [];
  try {
    const pids = serverPids(environment);
    let isOver = false;
    const loading = postWhile(
      environment,
      () => !isOver,
      plan.perSecond,
      (index) => ({
        class: RECOVERY_CLASSES[index % RECOVERY_CLASSES.length]!,
        prompt: `[sandbox:delay=${(index % 5) * 0.4}] drill ${index}`,
      }),
    );
    loading.catch(() => {});
    const startedAt = Date.now();
    await pause(plan.before * 1000);
    await plan.perform({
      environment,
      async disturb(name, work) {
        const from = Date.now();
        const result = await environment.faults.during(name, work);
        disturbances.push({ name, from, to: Date.now() });
        log(`${name} took ${((Date.now() - from) / 1000).toFixed(1)} s`);
        return result;
      },
    });
    isOver = true;
    const loadSeconds = (Date.now() - startedAt) / 1000;
    const posted = await loading;
    log(`${posted.length} runs accepted in ${loadSeconds.toFixed(0)} s of load`);
    await waitUntilAllEnded(environment, plan.settleSeconds ?? 240);
    const { totals, each } = await measureDrill(environment, posted, disturbances);
    return {
      name: `${plan.name}, ${plan.perSecond} runs/s, ${posted.length} runs`,
      results: [
        ...(await checkInvariants(environment, posted)),
        restartCheck(environment, pids),
        checkRate(posted.length / loadSeconds, plan.perSecond),
        ...plan.check(each),
      ],
      notes: [describeTotals(totals), ...each.map(describeDisturbance)],
      counts: { runs: posted.length, kills: environment.faults.killCount() },
    };
  } finally {
    await environment.stop();
  }
}

/** A load that fell behind would make a drill easier. Clients that wait for each other's timers lose a few percent. */
const checkRate = (actual: number, wanted: number): CheckResult => ({
  kind: "speed",
  invariant: "the load was posted at its rate",
  passed: actual >= wanted * 0.8,
  observed: `${actual.toFixed(1)} of ${wanted} runs/s`,
});

/** A bound on one figure of every disturbance with this name. */
export function boundFigure(
  figures: DisturbanceFigures[],
  name: string,
  [figure, invariant, maxSeconds]: [keyof DisturbanceFigures, string, number],
): CheckResult {
  const values = figures.filter((each) => each.name === name).map((each) => Number(each[figure]) / 1000);
  return {
    // A disturbance that did not happen has proved nothing.
    kind: values.length > 0 ? "speed" : "safety",
    invariant: `${name}: ${invariant} ${maxSeconds} s`,
    passed: values.length > 0 && values.every((value) => value <= maxSeconds),
    observed: values.map((value) => `${value.toFixed(1)} s`).join(", ") || "did not happen",
  };
}
