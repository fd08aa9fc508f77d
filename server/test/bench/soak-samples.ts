// What must not grow with time, sampled while the service is under load, and compared at the end.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestEnvironment } from "../support/test-environment.ts";

export type Sample = Record<string, number>;

/** The first part fills caches and pools, and the history that is kept. It is not compared. */
const WARM_UP_SHARE = 0.3;
/** What the last samples may be above the first ones after the warm-up. */
const MAX_GROWTH = 1.25;
const FLAT = [
  ...["connections", "dead_rows", "open_runs", "runs", "api_mb", "worker_mb", "postgres_mb", "engine_mb"],
  ...["engine_disk_mb", "database_mb", "files_mb", "backups_mb"],
];

const residentMb = (pid: number) => {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round(Number(kilobytes) / 1024);
};

const diskMb = (...paths: string[]) => {
  // A file that is deleted meanwhile makes the exit code 1.
  const { stdout } = runDu(paths);
  return stdout.split("\n").reduce((sum, line) => sum + Number(line.split("\t")[0]), 0);
};

function runDu(paths: string[]): { stdout: string } {
  try {
    return { stdout: execFileSync("du", ["-sm", ...paths], { encoding: "utf8", stdio: "pipe" }) };
  } catch (thrown) {
    return thrown as { stdout: string };
  }
}

/** `known`: the process id of PostgreSQL, and counters that are printed with the sample. */
export async function readSample(
  environment: TestEnvironment,
  { postgres, ...known }: Sample & { postgres: number },
  directory: string,
): Promise<Sample> {
  const { api, worker, restate } = environment.pids();
  const [row] = await environment.query<Sample>(
    `select (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
       (select sum(n_dead_tup)::int from pg_stat_user_tables) as dead_rows,
       (select count(*)::int from open_runs) as open_runs,
       (select count(*)::int from runs) as runs,
       (select count(*)::int from runs where status <> 'completed' and finished_at is not null) as not_completed,
       (pg_database_size(current_database()) / 1000000)::int as database_mb`,
  );
  return {
    ...known,
    ...row!,
    api_mb: residentMb(api!),
    worker_mb: residentMb(worker!),
    postgres_mb: residentMb(postgres),
    engine_mb: residentMb(restate!),
    engine_disk_mb: diskMb(environment.restateDir),
    // Without the archive, which grows as it should.
    files_mb: diskMb("--exclude=archive", environment.storageDir),
    archive_mb: diskMb(environment.storageDir) - diskMb("--exclude=archive", environment.storageDir),
    backups_mb: diskMb(join(directory, "archive"), join(directory, "backups")),
  };
}

/** Prints how each figure changed from the first third to the last one. Returns those that grew. */
export function findGrowth(samples: Sample[]): string[] {
  const warm = samples.slice(Math.ceil(samples.length * WARM_UP_SHARE));
  const third = Math.max(1, Math.floor(warm.length / 3));
  const mean = (list: Sample[], name: string) => list.reduce((sum, sample) => sum + sample[name]!, 0) / list.length;
  return FLAT.filter((name) => {
    const [early, late] = [mean(warm.slice(0, third), name), mean(warm.slice(-third), name)];
    const hasGrown = late > early * MAX_GROWTH + 10;
    const figures = `first third ${early.toFixed(0)}, last third ${late.toFixed(0)}`;
    console.log(`${name.padEnd(15)} ${figures}${hasGrown ? "   GREW" : ""}`);
    return hasGrown;
  });
}
