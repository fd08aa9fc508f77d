// `npm run bench -- streams`: a thousand readers on one API process, each on a run of its own, 200 events a second in
// all, and 200 of the readers cut off and resumed at random. `--short` is the same in small.
import { parseArgs } from "node:util";
import { runStreamLoad, type StreamLoad } from "../events/stream-load.ts";
import { percentile } from "./full-service.ts";

const { short } = parseArgs({ options: { short: { type: "boolean", default: false } } }).values;
const STORM: StreamLoad = short
  ? { clients: 200, perSecond: 100, seconds: 10, disconnects: 40 }
  : { clients: 1000, perSecond: 200, seconds: 45, disconnects: 200 };
const GOAL_MS = 100;

const { events, resumed, latencyMs, wrong, cpuSeconds } = await runStreamLoad(STORM);
const at = (share: number) => percentile(latencyMs, share).toFixed(1);
console.log(`${STORM.clients} readers, ${events} events at ${STORM.perSecond}/s, ${resumed} cut off and resumed`);
console.log(
  `change to reader: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms   (goal: p99 under ${GOAL_MS} ms; ${latencyMs.length} measured)`,
);
console.log(`readers that did not see every event exactly once, in order: ${wrong.length}   (goal: 0)`);
const cpu = Object.entries(cpuSeconds).map(([part, seconds]) => `${part} ${((seconds * 1000) / events).toFixed(2)}`);
console.log(`CPU ms per event: ${cpu.join(", ")}`);
process.exit(wrong.length > 0 || percentile(latencyMs, 0.99) >= GOAL_MS ? 1 : 0);
