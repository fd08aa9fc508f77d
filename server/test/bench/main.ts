// `npm run bench`: what the spine costs beside the bare engine, in turns on the same machine, and what a customer
// feels.
import { parseArgs } from "node:util";
import { startTestEnvironment } from "../support/test-environment.ts";
import { measureEngineBaseline, type Throughput } from "./engine-baseline.ts";
import { measureFullService, measureLatency, percentile } from "./full-service.ts";

const { runs, rounds } = parseArgs({
  options: { runs: { type: "string", default: "3000" }, rounds: { type: "string", default: "2" } },
}).values;
const AT_ONCE = 32;

const show = (name: string, { perSecond, cpuMsPerRun }: Throughput) => {
  const parts = Object.entries(cpuMsPerRun).map(([part, ms]) => `${part} ${ms.toFixed(2)}`);
  const own = Object.entries(cpuMsPerRun)
    .filter(([part]) => part !== "sandbox")
    .reduce((sum, [, ms]) => sum + ms, 0);
  console.log(
    `${name.padEnd(14)} ${perSecond.toFixed(0).padStart(5)} runs/s   CPU ms per run: ${own.toFixed(2)} (${parts.join(", ")})`,
  );
};

const bare: Throughput[] = [];
const whole: Throughput[] = [];
for (let round = 0; round < Number(rounds); round++) {
  bare.push(await measureEngineBaseline(Number(runs), AT_ONCE));
  show("bare engine", bare.at(-1)!);
  const world = await startTestEnvironment({ roles: "split", env: { LOG_LEVEL: "error" } });
  whole.push(await measureFullService(world, Number(runs), AT_ONCE));
  show("whole service", whole.at(-1)!);
  await world.stop();
}

const best = (all: Throughput[]) => Math.max(...all.map((each) => each.perSecond));
console.log(`\nshare of the bare engine: ${((100 * best(whole)) / best(bare)).toFixed(0)} %   (goal: 50 %)`);

const environment = await startTestEnvironment({ roles: "split", env: { LOG_LEVEL: "error" } });
await measureLatency(environment, 50, 3);
const { acceptMs, toVendorMs } = await measureLatency(environment, 50, 20);
const ms = (values: number[]) =>
  `p50 ${percentile(values, 0.5).toFixed(1)} ms, p99 ${percentile(values, 0.99).toFixed(1)} ms`;
console.log(`POST accept at 50/s: ${ms(acceptMs)}   (goal: p99 under 25 ms)`);
console.log(`POST until the provider has the job: ${ms(toVendorMs)}   (goal: p50 under 40 ms)`);
await environment.stop();
