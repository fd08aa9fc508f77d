// `npm run soak`: runs at a steady rate for a long time. Samples what must not grow with time: memory, connections,
// dead rows and the engine's disk. `--minutes`, `--rate` (runs per second) and `--every` (seconds between samples).
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { startTestEnvironment } from "../support/test-environment.ts";
import { createRunPoster } from "./full-service.ts";

const { minutes, rate, every } = parseArgs({
  options: {
    minutes: { type: "string", default: "60" },
    rate: { type: "string", default: "50" },
    every: { type: "string", default: "60" },
  },
}).values;
/** The first part fills caches and pools and is not compared. */
const WARM_UP_SHARE = 0.2;
/** What the last samples may be above the first ones after the warm-up. */
const MAX_GROWTH = 1.25;

type Sample = Record<string, number>;

const environment = await startTestEnvironment({ roles: "split", env: { LOG_LEVEL: "error" } });
const post = createRunPoster(environment, 32);
let [accepted, refused] = [0, 0];

const residentMb = (pid: number) => {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round(Number(kilobytes) / 1024);
};

async function readSample(): Promise<Sample> {
  const { api, worker, restate } = environment.pids();
  const [row] = await environment.query<Sample>(
    `select (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
       (select sum(n_dead_tup)::int from pg_stat_user_tables) as dead_rows,
       (select count(*)::int from open_runs) as open_runs,
       (select count(*)::int from runs where status <> 'completed' and finished_at is not null) as not_completed`,
  );
  return {
    accepted,
    refused,
    ...row!,
    api_mb: residentMb(api!),
    worker_mb: residentMb(worker!),
    engine_mb: residentMb(restate!),
    engine_disk_mb: Number(execFileSync("du", ["-sm", environment.restateDir], { encoding: "utf8" }).split("\t")[0]),
  };
}

const show = (sample: Sample, second: number) => {
  const figures = Object.entries(sample).map(([name, value]) => `${name} ${value}`);
  console.log(`${String(second).padStart(5)} s  ${figures.join("  ")}`);
};

const start = performance.now();
const elapsedSeconds = () => (performance.now() - start) / 1000;
const totalSeconds = Number(minutes) * 60;
const samples: Sample[] = [];
const pending = new Set<Promise<void>>();
let sent = 0;
while (elapsedSeconds() < totalSeconds) {
  for (; sent < elapsedSeconds() * Number(rate); sent++) {
    const request = post()
      .then(({ status }) => {
        if (status === 202) accepted++;
        else refused++;
      })
      .finally(() => pending.delete(request));
    pending.add(request);
  }
  if (elapsedSeconds() >= (samples.length + 1) * Number(every)) {
    samples.push(await readSample());
    show(samples.at(-1)!, Math.round(elapsedSeconds()));
  }
  await new Promise((resolve) => setTimeout(resolve, 10));
}
await Promise.all(pending);

const warm = samples.slice(Math.ceil(samples.length * WARM_UP_SHARE));
const third = Math.max(1, Math.floor(warm.length / 3));
const mean = (list: Sample[], name: string) => list.reduce((sum, sample) => sum + sample[name]!, 0) / list.length;
for (const name of ["connections", "dead_rows", "open_runs", "api_mb", "worker_mb", "engine_mb", "engine_disk_mb"]) {
  const [early, late] = [mean(warm.slice(0, third), name), mean(warm.slice(-third), name)];
  const hasGrown = late > early * MAX_GROWTH + 10;
  console.log(
    `${name.padEnd(15)} first third ${early.toFixed(0)}, last third ${late.toFixed(0)}${hasGrown ? "   GREW" : ""}`,
  );
  if (hasGrown) process.exitCode = 1;
}
const last = await readSample();
console.log(`accepted ${accepted}, refused ${refused}, ended but not completed ${last.not_completed}`);
if (refused + last.not_completed! > 0) process.exitCode = 1;
await environment.stop();
