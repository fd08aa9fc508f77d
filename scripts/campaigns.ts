// `npm run campaigns`: runs the campaigns of scripts/gate/campaign-list.ts. `--all` runs all of them, as before a
// release; `--only NAME,NAME` some; without either, those whose guarded paths have changed. `--budget 60m` starts none
// after this time, `--seed N` repeats random choices. Safety decides the exit code; figures about speed are printed.
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { CAMPAIGNS, type Campaign, withSeed } from "./gate/campaign-list.ts";
import { isGuarded, listChangedPaths } from "./gate/changed-paths.ts";
import { runCommand, stopEverything } from "./gate/run-command.ts";

const { all, only, budget, seed } = parseArgs({
  options: {
    all: { type: "boolean", default: false },
    only: { type: "string" },
    budget: { type: "string", default: "600m" },
    seed: { type: "string", default: String(randomInt(2 ** 31)) },
  },
}).values;

for (const signal of ["SIGTERM", "SIGINT"] as const)
  process.once(signal, () => void stopEverything().then(() => process.exit(1)));

const endsAt = performance.now() + parseMinutes(budget) * 60_000;
const outcomes: { name: string; outcome: string }[] = [];
for (const { name, command, limitSeconds } of selectCampaigns()) {
  if (performance.now() > endsAt) {
    outcomes.push({ name, outcome: "not run: the budget is used up" });
    continue;
  }
  console.log(`\n=== ${name}`);
  const { code, seconds, cpuSeconds } = await runCommand({ name, command: withSeed(command, seed), limitSeconds });
  const cost = `${seconds.toFixed(0)} s, ${cpuSeconds?.toFixed(0) ?? "?"} CPU s`;
  outcomes.push({ name, outcome: `${code === 0 ? "passed" : "FAILED"}, ${cost}` });
}
await stopEverything();
console.log(`\ncampaigns: seed ${seed}`);
for (const { name, outcome } of outcomes) console.log(`${name.padEnd(28)} ${outcome}`);
process.exit(outcomes.length > 0 && outcomes.every(({ outcome }) => outcome.startsWith("passed")) ? 0 : 1);

function selectCampaigns(): Campaign[] {
  if (all) return CAMPAIGNS;
  const names = only?.split(",");
  const unknown = names?.filter((name) => !CAMPAIGNS.some((each) => each.name === name)) ?? [];
  if (unknown.length > 0)
    throw new Error(`No campaign ${unknown}. There are: ${CAMPAIGNS.map(({ name }) => name).join(", ")}.`);
  if (names) return CAMPAIGNS.filter(({ name }) => names.includes(name));
  const paths = listChangedPaths();
  return CAMPAIGNS.filter(({ when, guards }) => when !== "release" && paths.some((path) => isGuarded(path, guards)));
}

function parseMinutes(text: string): number {
  const minutes = /^(\d+)m$/.exec(text)?.[1];
  if (!minutes) throw new Error(`--budget ${text}: expected minutes, such as 60m`);
  return Number(minutes);
}
