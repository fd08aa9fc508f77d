// Metrics as Prometheus reads them, from a real port.

import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { afterEach, expect, it } from "vitest";
import type { InstallationFigures } from "../db/installation-figures.ts";
import { observeInstallation } from "./installation-gauges.ts";
import { METRICS } from "./metric-list.ts";
import { createMetrics, type MetricsServer } from "./metrics.ts";

const FIGURES: InstallationFigures = {
  queues: [{ provider: "fal", depth: 3, oldest_age: 12.5 }],
  requests: [{ provider: "fal", activity: "at_provider", count: 2 }],
  unknown_attempts: [{ provider: "gone", count: 1 }],
  open_breakers: [],
  ...{ queued: 3, processing: 2, not_started: 1, requeued: 4, quarantined: 5, reserved: 0.25 },
  ...{ leases_held: 5, horizon_lag: 7, fan_out_lag: 8, webhook_backlog: 9 },
  ...{ webhook_oldest_age: 10, set_aside_events: 11, outbox_depth: 12, index_lag: 13, lock_share: 0.5 },
};

let server: MetricsServer | undefined;
let port: number;
afterEach(() => server?.close());

async function startMetrics() {
  port = await findFreePort();
  server = createMetrics({ METRICS_PORT: port, METRICS_HOST: "127.0.0.1" }, { role: "worker", version: "1.2.3" });
  await server.start();
  return server.metrics;
}

const findFreePort = () =>
  new Promise<number>((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port: found } = probe.address() as AddressInfo;
      probe.close(() => resolve(found));
    });
  });

const performanceClock = { monotonic: () => performance.now() };
const scrape = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();

it("exports durations in seconds, counters with their labels, and who exports them", async () => {
  const metrics = await startMetrics();
  metrics.record("http.server.request.duration", 0.02, {
    "http.request.method": "GET",
    "http.route": "/api/v1/runs/:run_id",
    "http.response.status_code": "200",
  });
  metrics.count("gesso.storage.failures", { operation: "put" });
  metrics.count("gesso.storage.failures", { operation: "put" });
  const text = await scrape();
  const labels = 'http_request_method="GET",http_route="/api/v1/runs/:run_id",http_response_status_code="200"';
  expect(text).toContain(`http_server_request_duration_seconds_bucket{${labels},le="0.025"} 1`);
  expect(text).toContain(`http_server_request_duration_seconds_bucket{${labels},le="0.01"} 0`);
  expect(text).toContain('gesso_storage_failures_total{operation="put"} 2');
  expect(text).toMatch(/target_info\{.*service_version="1\.2\.3".*gesso_role="worker"/);
});

it("exports every gauge of the installation, also of providers without work", async () => {
  const metrics = await startMetrics();
  observeInstallation(metrics, { read: async () => FIGURES, providers: ["openai"], clock: performanceClock });
  const text = await scrape();
  expect(text).toContain('gesso_queue_oldest_age_seconds{provider="fal"} 12.5');
  expect(text).toContain('gesso_queue_oldest_age_seconds{provider="openai"} 0');
  expect(text).toContain("gesso_runs_quarantined 5");
  expect(text).toContain('gesso_attempts_unknown{provider="gone"} 1');
  expect(text).toContain('gesso_circuit_breakers_open{provider="openai"} 0');
  expect(text).toContain('gesso_requests_open{provider="fal",activity="at_provider"} 2');
  const gauges = Object.entries(METRICS).filter(([name, { kind }]) => kind === "gauge" && !name.includes("pool_wait"));
  for (const [name] of gauges) expect(text).toContain(`\n${name.replaceAll(".", "_")}`);
});

it("reads the figures once for scrapes within five seconds", async () => {
  const metrics = await startMetrics();
  const clock = { at: 0, monotonic: () => clock.at };
  let reads = 0;
  const read = async () => ({ ...FIGURES, outbox_depth: ++reads });
  observeInstallation(metrics, { read, providers: [], clock });
  await Promise.all([scrape(), scrape(), scrape()]);
  clock.at = 4999;
  expect(await scrape()).toContain("gesso_outbox_depth 1");
  clock.at = 5001;
  expect(await scrape()).toContain("gesso_outbox_depth 2");
});

it("sets figures that cannot be read to NaN, and says how old the last ones are", async () => {
  const metrics = await startMetrics();
  const clock = { at: 0, monotonic: () => clock.at };
  let isBroken = false;
  const read = async () => {
    if (isBroken) throw new Error("no database");
    return FIGURES;
  };
  observeInstallation(metrics, { read, providers: [], clock });
  expect(await scrape()).toContain("gesso_queue_depth{");
  isBroken = true;
  clock.at = 60_000;
  const text = await scrape();
  expect(text).toContain('gesso_queue_depth{provider="fal"} NaN');
  expect(text).toContain("gesso_installation_read_age_seconds 60");
});

it("sets a series to zero when its work is done", async () => {
  const metrics = await startMetrics();
  const clock = { at: 0, monotonic: () => clock.at };
  let figures = FIGURES;
  observeInstallation(metrics, { read: async () => figures, providers: [], clock });
  expect(await scrape()).toContain('gesso_requests_open{provider="fal",activity="at_provider"} 2');
  figures = { ...FIGURES, requests: [] };
  clock.at = 5001;
  expect(await scrape()).toContain('gesso_requests_open{provider="fal",activity="at_provider"} 0');
});

it("opens no port without the setting", async () => {
  const off = createMetrics({ METRICS_HOST: "127.0.0.1" }, { role: "api", version: "1.2.3" });
  await off.start();
  off.metrics.count("gesso.decoder.failures", {});
  await off.close();
});
