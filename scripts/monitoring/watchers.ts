// The programs that watch the installation of the drill: Prometheus, and the exporter of PostgreSQL.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort, type ManagedProcess, startProcess } from "@gesso/dev/components";

const RULES = new URL("../../deploy/monitoring/alerts.yaml", import.meta.url);
const QUERIES = fileURLToPath(new URL("../../deploy/monitoring/postgres-exporter-queries.yaml", import.meta.url));
/** Alerts wait for minutes; the drill does not. */
export const SHORT_FOR = "3s";

/** An account as the guide describes it, so that the drill shows that its rights suffice. */
export const MONITORING_ACCOUNT = { user: "monitoring", password: "monitoring-of-the-drill" };

const respondsOk = (url: string) =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

export async function startPostgresExporter(directory: string, databaseUrl: string): Promise<ManagedProcess> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const account = new URL(databaseUrl);
  account.username = MONITORING_ACCOUNT.user;
  account.password = MONITORING_ACCOUNT.password;
  account.searchParams.set("sslmode", "disable");
  return startProcess({
    name: "prometheus-postgres-exporter",
    url,
    command: [
      "prometheus-postgres-exporter",
      `--web.listen-address=127.0.0.1:${port}`,
      `--extend.query-path=${QUERIES}`,
    ],
    log: join(directory, "postgres-exporter.log"),
    directory,
    environment: { PATH: process.env.PATH ?? "", DATA_SOURCE_NAME: account.href },
    probe: () => respondsOk(`${url}/metrics`),
  });
}

/** `targets`: addresses of each job. */
export async function startPrometheus(directory: string, targets: Record<string, string[]>): Promise<ManagedProcess> {
  const rules = join(directory, "alerts.yaml");
  writeFileSync(rules, readFileSync(RULES, "utf8").replace(/for: \d+m/g, `for: ${SHORT_FOR}`));
  const config = {
    global: { scrape_interval: "1s", evaluation_interval: "1s" },
    rule_files: [rules],
    scrape_configs: Object.entries(targets).map(([job, addresses]) => ({
      job_name: job,
      static_configs: [{ targets: addresses }],
    })),
  };
  writeFileSync(join(directory, "prometheus.yml"), JSON.stringify(config));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  return startProcess({
    name: "prometheus",
    url,
    command: [
      "prometheus",
      `--config.file=${join(directory, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(directory, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    log: join(directory, "prometheus.log"),
    directory,
    environment: process.env as Record<string, string>,
    probe: () => respondsOk(`${url}/-/ready`),
  });
}
