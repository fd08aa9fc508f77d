// The checks of `gesso upgrade check`: whether this version can replace the one that runs, beside its running processes
// and runs, and whether you can return to it. Changes nothing.
import { directUrlOf } from "../db/connect.ts";
import { readUpgradeState, type UpgradeState } from "../db/migrations/upgrade-state.ts";
import { createProviderHttpClient } from "../outbound/provider-http-client.ts";
import type { Clock } from "../runtime/clock.ts";
import { VERSION } from "../runtime/version.ts";
import { rootCauseMessage } from "./check-dependencies.ts";
import { checkStandby } from "./check-standby.ts";
import { checkWorkers } from "./check-workers.ts";
import type { DoctorCheck } from "./report.ts";

type UpgradeSettings = Parameters<typeof checkWorkers>[0];

export type UpgradeReport = { version: string; ok: boolean; checks: DoctorCheck[] };

/** `missing`: settings that this version needs and does not have. */
export async function checkUpgrade(
  settings: UpgradeSettings | undefined,
  missing: readonly string[],
  clock: Pick<Clock, "after">,
): Promise<UpgradeReport> {
  const http = createProviderHttpClient(clock);
  try {
    const checks: DoctorCheck[] = settings
      ? [
          { name: "settings", status: "pass", message: "complete" },
          ...(await checkSchema(settings)),
          await checkWorkers(settings, http.send),
          await checkStandby(settings),
        ]
      : [{ name: "settings", status: "fail", message: missing.join("; "), fix: "see .env.example" }];
    return { version: VERSION, ok: checks.every(({ status }) => status !== "fail"), checks };
  } finally {
    await http.close();
  }
}

async function checkSchema(settings: UpgradeSettings): Promise<DoctorCheck[]> {
  try {
    return assessUpgrade(await readUpgradeState(directUrlOf(settings)));
  } catch (thrown) {
    return [{ name: "migrations", status: "fail", message: rootCauseMessage(thrown) }];
  }
}

export function assessUpgrade({ current, pending, longTransactions, openRuns, heldBack }: UpgradeState): DoctorCheck[] {
  const names = pending.map(({ name }) => name).join(", ");
  // A version is as old as its last migration. A contract migration names the oldest version that it leaves working.
  const breaking = pending.filter(({ kind, lowestProgram }) => kind === "contract" && lowestProgram > current);
  const pids = longTransactions.map(({ pid, seconds }) => `${pid} (${seconds} s)`).join(", ");
  const held = heldBack && [
    ...(heldBack.quarantined > 0 ? [`${heldBack.quarantined} runs are in quarantine`] : []),
    ...(heldBack.pauses > 0 ? [`${heldBack.pauses} parts are paused`] : []),
  ];
  return [
    {
      name: "migrations",
      status: "pass",
      message: pending.length === 0 ? "none to apply" : `${pending.length} to apply: ${names}`,
    },
    breaking.length === 0
      ? { name: "rollback", status: "pass", message: "the version that runs now works on the new schema" }
      : {
          name: "rollback",
          status: "fail",
          message: `${breaking.map(({ name }) => name).join(", ")} remove what the version that runs now uses`,
          fix: `first upgrade to a version with migration ${Math.max(...breaking.map((each) => each.lowestProgram))}`,
        },
    longTransactions.length === 0
      ? { name: "transactions", status: "pass", message: "none is open for more than a minute" }
      : {
          name: "transactions",
          status: "warn",
          message: `open for more than a minute: ${pids}. Migrations wait for them`,
          fix: "let them end, for example a dump, or end them with pg_terminate_backend",
        },
    { name: "runs", status: "pass", message: `${openRuns} open. They continue during the upgrade` },
    held && held.length > 0
      ? { name: "held back", status: "warn", message: held.join("; "), fix: "see `gesso admin pauses`" }
      : { name: "held back", status: "pass", message: "nothing" },
  ];
}
