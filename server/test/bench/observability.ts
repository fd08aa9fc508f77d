// `npm run bench -- observability`: what metrics and traces cost per run. Metrics are read every second, traces go to a
// collector on a socket.
import { parseArgs } from "node:util";
import { freePort } from "@gesso/dev/components";
import { startTraceCollector } from "../support/trace-collector.ts";
import { compareSettings } from "./compare-settings.ts";

const { runs, turns } = parseArgs({
  options: { runs: { type: "string", default: "3000" }, turns: { type: "string", default: "5" } },
}).values;

const collector = await startTraceCollector();
const ports = { api: await freePort(), worker: await freePort() };
const metrics = {
  processEnv: async (name: string) => ({ METRICS_PORT: String(name === "api" ? ports.api : ports.worker) }),
};
const traces = (share: string) => ({
  env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: share },
});
let reads = 0;
const read = async (port: number) => {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined);
  if (response?.ok && (await response.text()).includes("gesso")) reads++;
};
const reading = setInterval(() => Object.values(ports).forEach((port) => void read(port)), 1000);
try {
  const candidates = { neither: {}, metrics, "5 % traced": traces("0.05"), "all traced": traces("1") };
  await compareSettings(candidates, { turns: Number(turns), runs: Number(runs) });
  console.log(`metrics read ${reads} times, ${collector.spans.length} spans received`);
} finally {
  clearInterval(reading);
  await collector.close();
}
