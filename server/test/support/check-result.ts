// What a campaign has checked, and the record of the checks that are about speed.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FIGURES_FOLDER = ".campaigns/figures";

export type CheckResult = {
  invariant: string;
  passed: boolean;
  observed: string;
  /**
   * `safety`, the default: something would be lost, done twice, charged wrongly, leaked or answered with an error.
   * `speed`: a time, a rate or a share of it, which another program on the machine can change.
   */
  kind?: "safety" | "speed";
};

/** Figures about speed are kept beside those of the last run. */
export function recordSpeed(title: string, results: readonly CheckResult[]): void {
  if (results.length === 0) return;
  const file = join(FIGURES_FOLDER, `${title.replaceAll(/\W+/g, "-")}.json`);
  const last: Record<string, string> = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  console.log("\nspeed, now and in the last run");
  for (const { invariant, observed } of results)
    console.log(`  ${invariant}: ${observed}; before: ${last[invariant] ?? "unknown"}`);
  mkdirSync(FIGURES_FOLDER, { recursive: true });
  const figures = Object.fromEntries(results.map(({ invariant, observed }) => [invariant, observed]));
  writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`);
}
