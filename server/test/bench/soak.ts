// `npm run bench -- soak`: a day of operation in an hour. Runs at 70 % of the rate that is measured first, with metrics
// read, history archived and backups taken, and samples what must not grow with time. `--minutes` (the length of the
// day), `--rate` (runs per second, instead of measuring it) and `--every` (seconds between samples).
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freePort } from "@gesso/dev/components";
import { startArchivedPostgres } from "../restore/archived-postgres.ts";
import { listLedgerViolations } from "../support/check-ledger.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { createRunPoster, measureFullService } from "./full-service.ts";
import { startOperations } from "./soak-operations.ts";
import { findGrowth, readSample, type Sample } from "./soak-samples.ts";

const { minutes, rate, every } = parseArgs({
  options: {
    minutes: { type: "string", default: "60" },
    rate: { type: "string" },
    every: { type: "string", default: "60" },
  },
}).values;
const SHARE_OF_RATE = 0.7;
const MEASURED_RUNS = 2000;

/** Posts at the rate until the time is over, and samples at each interval. */
async function load(environment: TestEnvironment, perSecond: number, sample: () => Promise<Sample>) {
  const post = createRunPoster(environment, 32);
  const counts = { accepted: 0, refused: 0 };
  const samples: Sample[] = [];
  const pending = new Set<Promise<void>>();
  const start = performance.now();
  const elapsedSeconds = () => (performance.now() - start) / 1000;
  const send = async () => {
    const { status } = await post();
    if (status === 202) counts.accepted++;
    else counts.refused++;
  };
  for (let sent = 0; elapsedSeconds() < Number(minutes) * 60; await pause(10)) {
    for (; sent < elapsedSeconds() * perSecond; sent++) {
      const request = send().finally(() => pending.delete(request));
      pending.add(request);
    }
    if (elapsedSeconds() < (samples.length + 1) * Number(every)) continue;
    samples.push({ ...counts, ...(await sample()) });
    const figures = Object.entries(samples.at(-1)!).map(([name, value]) => `${name} ${value}`);
    console.log(`${elapsedSeconds().toFixed(0).padStart(5)} s  ${figures.join("  ")}`);
  }
  await Promise.all(pending);
  return { ...counts, samples };
}

const directory = mkdtempSync(join(tmpdir(), "gesso-soak-"));
const postgres = await startArchivedPostgres(directory, { archiveSeconds: 60 });
const ports = { api: await freePort(), worker: await freePort() };
const environment = await startTestEnvironment({
  roles: "split",
  databaseUrl: postgres.server.url,
  env: { LOG_LEVEL: "error" },
  processEnv: async (name) => ({ METRICS_PORT: String(name === "api" ? ports.api : ports.worker) }),
});
try {
  const measured =
    rate === undefined ? (await measureFullService(environment, MEASURED_RUNS, 32)).perSecond : undefined;
  const perSecond = measured === undefined ? Number(rate) : measured * SHARE_OF_RATE;
  const note = measured === undefined ? "" : `, ${100 * SHARE_OF_RATE} % of ${measured.toFixed(0)} runs/s`;
  console.log(`${perSecond.toFixed(0)} runs/s for ${minutes} minutes${note}`);
  const operations = startOperations(environment, postgres, {
    metricsPorts: Object.values(ports),
    dayMinutes: Number(minutes),
  });
  const sample = () => readSample(environment, { postgres: postgres.server.pid, ...operations.report() }, directory);
  const { accepted, refused, samples } = await load(environment, perSecond, sample);
  await operations.stop();
  const last = await sample();
  console.log(JSON.stringify(operations.report()));
  console.log(`accepted ${accepted}, refused ${refused}, ended but not completed ${last.not_completed}`);
  const grown = findGrowth(samples);
  const violations = await listLedgerViolations(environment);
  console.log(`violations of the ledger: ${JSON.stringify(violations)}`);
  const wrong = refused + last.not_completed! + operations.report().failed + grown.length + violations.length;
  if (wrong > 0) process.exitCode = 1;
} finally {
  await environment.stop();
  await postgres.server.stop();
  rmSync(directory, { recursive: true, force: true });
}
