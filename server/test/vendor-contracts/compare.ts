// `npm run vendors:check`: installs the newest packages of the vendors in a temporary folder and prints what changed
// since the installed ones as a table: new models, removed models, fields. `--from openai@7.48.0,lumaai@1.18.0`
// compares with other versions. Ends with 1 if a model that an offer uses was removed.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { providers } from "../../src/providers/all.ts";
import { CONTRACTS, findPackage } from "./contracts.ts";
import { comparePackages, describePackage, type PackageDifference } from "./describe-package.ts";

const MAX_CELL = 90;
const parameters = process.argv.slice(2);
const from = parameters[parameters.indexOf("--from") + 1] ?? "";
const bases = new Map(
  (parameters.includes("--from") ? from.split(",") : []).map((each) => {
    const at = each.lastIndexOf("@");
    return [each.slice(0, at), each.slice(at + 1)] as const;
  }),
);

const scratch = mkdtempSync(join(tmpdir(), "gesso-vendors-"));

/** No script of a package runs: its files are only read. */
function install(name: string, version: string): string {
  const folder = mkdtempSync(join(scratch, "package-"));
  writeFileSync(join(folder, "package.json"), "{}");
  const options = [
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-save",
    "--loglevel=error",
    "--legacy-peer-deps",
  ];
  execFileSync("npm", ["install", ...options, `${name}@${version}`], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  return join(folder, "node_modules", name);
}

const versionOf = (folder: string) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version as string;
const cell = (text: string) => {
  const whole = text.replaceAll("|", "\\|");
  return whole.length > MAX_CELL ? `${whole.slice(0, MAX_CELL)}…` : whole;
};

/** A changed enumeration is shown by what was added and removed. */
function showChange({ before, after }: PackageDifference): [string, string] {
  const [was, is] = [before.split(" | "), after.split(" | ")];
  if (was.length < 2 || is.length < 2) return [before, after];
  return [was.filter((each) => !is.includes(each)).join(" | "), is.filter((each) => !was.includes(each)).join(" | ")];
}

const gone: string[] = [];
try {
  for (const [id, { package: name }] of Object.entries(CONTRACTS)) {
    const selected = bases.get(name);
    if (bases.size > 0 && selected === undefined) continue;
    const [base, newest] = [selected ? install(name, selected) : findPackage(name), install(name, "latest")];
    const differences = comparePackages(describePackage(id, base), describePackage(id, newest));
    console.log(`\n## ${id}: ${name} ${versionOf(base)} to ${versionOf(newest)}, ${differences.length} differences\n`);
    if (differences.length === 0) continue;
    console.log("| Change | Where | Before | After |\n|---|---|---|---|");
    for (const each of differences) {
      const [before, after] = showChange(each).map(cell);
      console.log(`| ${each.change} | ${cell(each.name)} | ${before} | ${after} |`);
    }
    const removed = new Set(differences.filter(({ change }) => change === "removed model").map((each) => each.name));
    const offers = providers.find((provider) => provider.id === id)!.offers;
    gone.push(...new Set(offers.map((offer) => offer.upstreamModel).filter((model) => removed.has(model))));
  }
} finally {
  rmSync(scratch, { recursive: true });
}
if (gone.length > 0) {
  console.log(`\nRemoved, although offers use them: ${gone.join(", ")}`);
  process.exitCode = 1;
}
