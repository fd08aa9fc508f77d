// Seeds a year of history and archives it as the days pass. Some turns are killed after a file was written and before
// its rows are deleted; the next turn repeats them.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connectDatabase } from "../../src/db/connect.ts";
import { migrate } from "../../src/db/migrations/migrate.ts";
import { findLedgerViolations } from "../../src/db/money/ledger-check.ts";
import { archiveHistory, findArchiveBorder } from "../../src/runs/upkeep/archive.ts";
import type { CampaignReport, Log } from "../support/campaign.ts";
import { sumEntries } from "../support/past-runs.ts";
import { startPostgresForTests } from "../support/shared-postgres.ts";
import { ARCHIVE_AFTER_DAYS, createArchiveServices } from "./archive-services.ts";
import { countArchive, countBrokenTrees, countRows, sumArchivedTransfers } from "./check-archive.ts";
import { DAY_MS, DAYS, FIRST_DAY, seedYear } from "./seed-year.ts";

const CRASHING_TURN = fileURLToPath(new URL("crashing-turn.ts", import.meta.url));

type YearOptions = { runsPerDay: number; killEvery: number };

export async function archiveYear({ runsPerDay, killEvery }: YearOptions, log: Log): Promise<CampaignReport> {
  const postgres = await startPostgresForTests();
  const folder = mkdtempSync(join(tmpdir(), "gesso-retention-drill-"));
  try {
    const url = await postgres.createDatabase();
    await migrate(url);
    const owner = connectDatabase({ DATABASE_URL: url, DATABASE_POOL: 2 }, null);
    const { services, clock, database } = createArchiveServices(url, folder);
    const runs = await seedYear(owner, database, runsPerDay);
    const [entriesBefore, rowsBefore] = [await sumEntries(owner), await countRows(owner)];
    log(`${runs.length} runs of ${DAYS} days seeded`);

    let [kills, broken, treesRead, turnMs] = [0, 0, 0, 0];
    for (let day = 1; day <= DAYS; day++) {
      clock.at = FIRST_DAY + day * DAY_MS;
      if (day % killEvery === 0) kills += spawnTurn(url, folder, clock.at) === "SIGKILL" ? 1 : 0;
      const startedAt = performance.now();
      await archiveHistory(services);
      turnMs = Math.max(turnMs, performance.now() - startedAt);
      if (day % 30 !== 0 && day !== DAYS) continue;
      const trees = await countBrokenTrees(database, owner);
      [broken, treesRead] = [broken + trees.broken, treesRead + trees.trees];
      log(`day ${day}: ${trees.trees} trees read, ${trees.tombstones} tombstones in them`);
    }

    const border = findArchiveBorder(clock.at, ARCHIVE_AFTER_DAYS).getTime();
    const due = runs.filter(({ created_at }) => created_at < border).length;
    const found = await countArchive(services.assets.storage, owner, runs);
    const rows = await countRows(owner);
    const difference = JSON.stringify(await sumEntries(owner)) === JSON.stringify(entriesBefore) ? 0 : 1;
    const carried = await sumArchivedTransfers(owner);
    const violations = (await findLedgerViolations(url)).filter((each) => each.violations > 0);
    await Promise.all([owner.close(), database.close()]);
    const check = (invariant: string, observed: number, expected = 0) => ({
      invariant,
      passed: observed === expected,
      observed: String(observed),
    });
    return {
      name: `a year of ${runs.length} runs, archived after ${ARCHIVE_AFTER_DAYS} days`,
      counts: { runs: runs.length, kills },
      notes: [
        `${found.lines} lines in ${found.files} files of ${found.bytes} bytes; longest turn ${Math.round(turnMs)} ms`,
        `rows before: ${JSON.stringify(rowsBefore)}`,
        `rows left: ${JSON.stringify(rows)}`,
      ],
      results: [
        check("every run that was due is in the archive", found.lines, due),
        check("no run is lost", found.lost),
        check("no run is twice in the archive, or in the archive and in the database", found.duplicates),
        check("the sums of the ledger by tenant and account are the same", difference),
        check("no invariant of the ledger is violated", violations.length),
        check("the archived transfers are those that PostgreSQL has sums of", found.archivedAmount, carried),
        check(`all ${treesRead} trees that were read are whole`, broken),
        check(
          "the runs of the database are those that were not due, and tombstones",
          rows.runs!,
          runs.length - due + rows.archived_runs!,
        ),
        check("processes were killed between the file and the deletion", Math.min(kills, 1), 1),
      ],
    };
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the signal that ended the process, or null if nothing was due. */
const spawnTurn = (url: string, folder: string, now: number) =>
  spawnSync(process.execPath, [CRASHING_TURN, url, folder, String(now)], { stdio: "inherit" }).signal;
