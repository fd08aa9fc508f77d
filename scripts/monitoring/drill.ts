// `npm run drill -- monitoring`: a real Prometheus watches a loaded installation, with Restate and PostgreSQL. Every
// expression of every dashboard must have an answer, no alert may fire while all is well, and the alert of a stopped
// process must fire after a kill and resolve after the restart. Needs the programs `prometheus`, `promtool` and
// `prometheus-postgres-exporter`.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@gesso/dev/components";
import { startTestEnvironment } from "../../server/test/support/test-environment.ts";
import { ALERTS } from "./alerts.ts";
import { DASHBOARDS } from "./dashboards.ts";
import { MONITORING_ACCOUNT, SHORT_FOR, startPostgresExporter, startPrometheus } from "./watchers.ts";

const LOAD_SECONDS = 20;
const PER_SECOND = 5;

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const directory = mkdtempSync(join(tmpdir(), "gesso-monitoring-"));
const metricsPorts: Record<string, number> = { api: await freePort(), worker: await freePort() };
const environment = await startTestEnvironment({
  roles: "split",
  env: { LOG_LEVEL: "error" },
  processEnv: async (name) => ({ METRICS_PORT: String(metricsPorts[name]) }),
});
const { user, password } = MONITORING_ACCOUNT;
await environment.query(`create role ${user} login password '${password}' in role pg_monitor`);
const exporter = await startPostgresExporter(directory, environment.databaseUrl);
const prometheus = await startPrometheus(directory, {
  gesso: Object.values(metricsPorts).map((port) => `127.0.0.1:${port}`),
  restate: [new URL(environment.engineNodeUrl).host],
  postgresql: [new URL(exporter.url).host],
});
const { url } = prometheus;

type Answer = { data: { result: { value: [number, string] }[] } };
const ask = async (expr: string): Promise<string[]> => {
  const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expr)}`);
  return ((await response.json()) as Answer).data.result.map(({ value }) => value[1]);
};
type ListedAlerts = { data: { alerts: { labels: { alertname: string }; state: string }[] } };
const listFiring = async (): Promise<string[]> => {
  const { data } = (await (await fetch(`${url}/api/v1/alerts`)).json()) as ListedAlerts;
  return data.alerts.filter(({ state }) => state === "firing").map(({ labels }) => labels.alertname);
};
const secondsUntil = async (isReached: () => Promise<boolean>, limit: number): Promise<number | undefined> => {
  const start = performance.now();
  while (performance.now() - start < limit * 1000) {
    if (await isReached()) return (performance.now() - start) / 1000;
    await sleep(250);
  }
  return undefined;
};

/** A quarter of the runs takes 30 s, so that runs are open and wait while the expressions are asked. */
const post = (number: number) =>
  fetch(`${environment.url}/api/v1/runs/generate`, {
    method: "POST",
    headers: { authorization: `Bearer ${environment.key}`, "content-type": "application/json" },
    body: JSON.stringify({
      prompt: `[sandbox:delay=${number % 4 === 0 ? 30 : 0.05}] ${number}`,
      width: 64,
      height: 64,
    }),
  });
for (let number = 0; number < LOAD_SECONDS * PER_SECOND; number++) {
  await post(number);
  await sleep(1000 / PER_SECOND);
}

let [failures, asked] = [0, 0];
const fail = (what: string) => {
  failures++;
  console.log(`FAILED  ${what}`);
};
for (const { title, panels } of DASHBOARDS) {
  for (const { title: panel, queries } of panels) {
    for (const { expr } of queries) {
      asked++;
      const values = await ask(expr);
      if (values.length === 0 || values.every((value) => value === "NaN"))
        fail(`${title}, ${panel}: no answer to ${expr}`);
    }
  }
}
console.log(`${asked} expressions of ${DASHBOARDS.length} dashboards asked, ${failures} without an answer`);
for (const { name, expr } of ALERTS) if ((await ask(`${expr} or vector(0)`)).length === 0) fail(`alert ${name}`);
const firing = await listFiring();
if (firing.length > 0) fail(`alerts fire although all is well: ${firing.join(", ")}`);
console.log(`firing under load: ${firing.join(", ") || "none"}`);

const isFiring = async () => (await listFiring()).includes("GessoProcessDown");
await environment.kill("worker");
const fired = await secondsUntil(isFiring, 60);
if (fired === undefined) fail("GessoProcessDown did not fire after a worker was killed");
else console.log(`GessoProcessDown fired ${fired.toFixed(1)} s after the worker was killed (rule: for ${SHORT_FOR})`);
await environment.start("worker");
const resolved = await secondsUntil(async () => !(await isFiring()), 60);
if (resolved === undefined) fail("GessoProcessDown did not resolve after the restart");
else console.log(`and resolved ${resolved.toFixed(1)} s after the worker was started again`);

await Promise.all([prometheus.stop(), exporter.stop()]);
await environment.stop();
rmSync(directory, { recursive: true, force: true });
console.log(failures === 0 ? "passed" : `${failures} failed`);
process.exit(failures === 0 ? 0 : 1);
