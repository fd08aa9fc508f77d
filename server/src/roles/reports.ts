// The roles that print what they find and exit: the doctor, the check before an upgrade, and the listing of settings.
import { styleText } from "node:util";
import { checkUpgrade } from "../doctor/check-upgrade.ts";
import { diagnose } from "../doctor/doctor.ts";
import { type Colorize, renderReport, renderUpgradeReport } from "../doctor/render-report.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { inspectConfiguration } from "../settings/config.ts";
import { listConfiguration, renderListing } from "../settings/config-listing.ts";

const COLOURS = { pass: "green", warn: "yellow", fail: "red", skip: "dim", head: "bold" } as const;
/** Uses no colours if the output is not a terminal, or with NO_COLOR. */
const paint: Colorize = (status, text) => styleText(COLOURS[status], text);

/** `live`: also looks at each upstream model, with free requests. */
export async function runDoctor({ json: isJson, live: isLive }: { json: boolean; live: boolean }): Promise<number> {
  const report = await diagnose(inspectConfiguration(), systemClock, { isLive });
  process.stdout.write(isJson ? `${JSON.stringify(report, null, 2)}\n` : renderReport(report, paint));
  return report.ok ? 0 : 1;
}

export async function runUpgradeCheck(isJson: boolean): Promise<number> {
  const { settings, missing } = inspectConfiguration();
  const report = await checkUpgrade(settings, missing, systemClock);
  process.stdout.write(isJson ? `${JSON.stringify(report, null, 2)}\n` : renderUpgradeReport(report, paint));
  return report.ok ? 0 : 1;
}

/** Exit code 1: the server refuses a value. A missing setting is not an error here. */
export function runConfigListing({
  json,
  sources,
  "dev-settings": devSettings,
}: {
  json: boolean;
  sources: boolean;
  /** Names of the variables that `gesso dev` has set, separated by commas. */
  "dev-settings": string;
}): number {
  const listing = listConfiguration(devSettings.split(","));
  process.stdout.write(json ? `${JSON.stringify(listing, null, 2)}\n` : renderListing(listing, sources));
  for (const problem of listing.problems) process.stderr.write(`${problem}\n`);
  const hasInvalid = listing.settings.some(({ problem }) => problem !== undefined && problem !== "required");
  return hasInvalid || listing.problems.length > 0 ? 1 : 0;
}
