// `npm run bench`: what a run costs beside the bare engine, in turns on the same machine, without and with thumbnails;
// and how long a caller waits. The bare engine has four steps and a wakeup, with nothing in them.
import { parseArgs } from "node:util";
import { startTestEnvironment } from "../support/test-environment.ts";
import { measureEngineBaseline, type Throughput } from "./engine-baseline.ts";
import { measureFullService, measureLatency, ownCpu, percentile } from "./full-service.ts";

const { runs, rounds } = parseArgs({
  options: { runs: { type: "string", default: "3000" }, rounds: { type: "string", default: "2" } },
}).values;
const AT_ONCE = 32;

const show = (name: string, throughput: Throughput) => {
  const { perSecond, cpuMsPerRun } = throughput;
  const parts = Object.entries(cpuMsPerRun).map(([part, ms]) => `${part} ${ms.toFixed(2)}`);
  console.log(
    `${name.padEnd(14)} ${perSecond.toFixed(0).padStart(5)} runs/s   ` +
      `CPU ms per run: ${ownCpu(throughput).toFixed(2)} (${parts.join(", ")})`,
  );
};

async function measureService(thumbnails: boolean): Promise<Throughput> {
  const env = { LOG_LEVEL: "error", THUMBNAILS: String(thumbnails) };
  const environment = await startTestEnvironment({ roles: "split", env });
  const measured = await measureFullService(environment, Number(runs), AT_ONCE);
  await environment.stop();
  return measured;
}

const turns: Record<string, { measure(): Promise<Throughput>; results: Throughput[] }> = {
  "bare engine": { measure: () => measureEngineBaseline(Number(runs), AT_ONCE), results: [] },
  "whole service": { measure: () => measureService(false), results: [] },
  "and thumbnails": { measure: () => measureService(true), results: [] },
};
for (let round = 0; round < Number(rounds); round++) {
  for (const [name, { measure, results }] of Object.entries(turns)) {
    results.push(await measure());
    show(name, results.at(-1)!);
  }
}

const medianCpu = (name: string) => percentile(turns[name]!.results.map(ownCpu), 0.5);
const best = (name: string) => Math.max(...turns[name]!.results.map((each) => each.perSecond));
const share = (part: number, whole: number) => `${((100 * part) / whole).toFixed(0)} %`;
console.log(
  `\nshare of the bare engine: ${share(medianCpu("bare engine"), medianCpu("whole service"))} by CPU, ` +
    `${share(best("whole service"), best("bare engine"))} by runs per second   (goal: 50 %)`,
);
console.log(`own CPU per run, median: ${medianCpu("whole service").toFixed(2)} ms   (goal: 5.5 ms)`);

const ms = (values: number[]) =>
  `p50 ${percentile(values, 0.5).toFixed(1)} ms, p99 ${percentile(values, 0.99).toFixed(1)} ms`;
for (const thumbnails of [false, true]) {
  const env = { LOG_LEVEL: "error", THUMBNAILS: String(thumbnails) };
  const environment = await startTestEnvironment({ roles: "split", env });
  await measureLatency(environment, 50, 3);
  const { acceptMs, toVendorMs } = await measureLatency(environment, 50, 20);
  const name = thumbnails ? "with thumbnails" : "without thumbnails";
  console.log(`POST accept at 50/s, ${name}: ${ms(acceptMs)}   (goal: p99 under 15 ms)`);
  console.log(`POST until the provider has the job, ${name}: ${ms(toVendorMs)}   (goal: p50 under 15 ms)`);
  await environment.stop();
}
