// What settings cost: the whole service under the same load with each of them, in turns, so that a machine that becomes
// slower does so for all.
import { startTestEnvironment, type TestEnvironmentOptions } from "../support/test-environment.ts";
import type { Throughput } from "./engine-baseline.ts";
import { measureFullService, ownCpu, percentile } from "./full-service.ts";

const AT_ONCE = 32;

type Comparison = { turns: number; runs: number };

type Candidate = Pick<TestEnvironmentOptions, "env" | "processEnv">;

/** The first candidate is what the others are compared with. */
export async function compareSettings(
  candidates: Record<string, Candidate>,
  { turns, runs }: Comparison,
): Promise<void> {
  const results = new Map<string, Throughput[]>();
  for (let turn = 0; turn < turns; turn++)
    for (const [name, { env, ...candidate }] of Object.entries(candidates)) {
      const quiet = { LOG_LEVEL: "error", THUMBNAILS: "false" };
      const environment = await startTestEnvironment({ roles: "split", env: { ...quiet, ...env }, ...candidate });
      const measured = await measureFullService(environment, runs, AT_ONCE);
      await environment.stop();
      results.set(name, [...(results.get(name) ?? []), measured]);
      const parts = Object.entries(measured.cpuMsPerRun).map(([part, ms]) => `${part} ${ms.toFixed(2)}`);
      console.log(
        `${name.padEnd(14)} ${measured.perSecond.toFixed(0).padStart(4)} runs/s   ` +
          `CPU ms per run: ${ownCpu(measured).toFixed(2)} (${parts.join(", ")})`,
      );
    }
  const medianOf = (name: string, value: (each: Throughput) => number) =>
    percentile(results.get(name)!.map(value), 0.5);
  const [first] = results.keys();
  console.log("median");
  for (const name of results.keys()) {
    const [cpu, baseline] = [medianOf(name, ownCpu), medianOf(first!, ownCpu)];
    const perSecond = medianOf(name, (each) => each.perSecond);
    const difference = `${(100 * (cpu / baseline - 1)).toFixed(1)} % more CPU than ${first}`;
    console.log(
      `${name.padEnd(14)} ${perSecond.toFixed(0).padStart(4)} runs/s   ${cpu.toFixed(2)} ms` +
        (name === first ? "" : `   ${difference}`),
    );
  }
}
