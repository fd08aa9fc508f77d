// `npm run release -- try`: tries the built packages as a user does (release/trial/try-installation.ts), from a
// registry on this machine that has newer versions of three dependencies, and prints a table: seconds, megabytes,
// warnings, idle CPU and memory. By default with the Node.js of the system; `--matrix` tries Node.js 20, 22 and 24,
// each with its own npm. Fails if npm installs another tree than the tested one, or warns.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildDevPackage, buildPackage } from "./release/build-package.ts";
import { createTrialEnvironment } from "./release/trial/environment.ts";
import { publishNewer, type Registry, startRegistry } from "./release/trial/registry.ts";
import { type TrialFigures, tryInstallation } from "./release/trial/try-installation.ts";

/** The newest npm of the major version that each Node.js brings. */
const NODE_VERSIONS = { 20: "10", 22: "10", 24: "11" };
/** Direct ones and one that only another package names. */
const NEWER = ["hono", "undici", "postgres-array"];
const COLUMNS: [title: string, show: (figures: TrialFigures) => string][] = [
  ["Node.js", ({ node }) => node],
  ["npm", ({ npm }) => npm],
  ["Install", ({ installSeconds }) => `${installSeconds.toFixed(1)} s`],
  ["Size", ({ installMegabytes }) => `${installMegabytes} MB`],
  ["Warnings", ({ warnings }) => String(warnings.length)],
  ["PostgreSQL and Restate", ({ programsSeconds }) => `${programsSeconds.toFixed(1)} s`],
  ["Size", ({ programsMegabytes }) => `${programsMegabytes} MB`],
  ["Ready", ({ readySeconds }) => `${readySeconds.toFixed(1)} s`],
  ["First image", ({ imageSeconds }) => `${imageSeconds.toFixed(2)} s`],
  ["Idle CPU", ({ idle }) => `${idle.cpuPercent.toFixed(1)} %`],
  ["Memory", ({ idle }) => `${idle.megabytes.toFixed(0)} MB`],
];

const { values } = parseArgs({ options: { matrix: { type: "boolean" } } });
const scratch = mkdtempSync(join(tmpdir(), "gesso-trial-"));
const showRow = (cells: string[]) => console.log(`| ${cells.join(" | ")} |`);

/** Node.js as an npm package without an install script, beside its npm. */
function installNode(version: string, npm: string): string {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(scratch, `node-${version}`);
  mkdirSync(folder, { recursive: true });
  const env = createTrialEnvironment(folder, undefined);
  const packages = [`${name}@${version}`, `npm@${npm}`];
  execFileSync("npm", ["install", "--ignore-scripts", "--silent", ...packages], { cwd: folder, env });
  execFileSync("ln", ["-s", "../../npm/bin/npm-cli.js", join(folder, "node_modules", name, "bin", "npm")]);
  return join(folder, "node_modules", name, "bin");
}

function pack(build: (target: string) => void, folder: string): string {
  const target = resolve(folder);
  build(target);
  const packed = execFileSync("npm", ["pack", target, "--silent", "--pack-destination", scratch], { encoding: "utf8" });
  return join(scratch, packed.trim());
}

let registry: Registry | undefined;
try {
  const archive = pack(buildPackage, "dist/package");
  registry = await startRegistry(join(scratch, "registry"));
  registry.publish(pack(buildDevPackage, "dist/package-dev"));
  const newer = [];
  for (const name of NEWER) newer.push(`${name} ${publishNewer(registry, name, join(scratch, "newer"))}`);
  console.log(`The registry has ${newer.join(", ")}, which fail when they are loaded.\n`);
  const trials = values.matrix
    ? Object.entries(NODE_VERSIONS).map(([version, npm]) => installNode(version, npm))
    : [undefined];
  showRow(COLUMNS.map(([title]) => title));
  showRow(COLUMNS.map(() => "---"));
  const warnings = [];
  for (const nodeFolder of trials) {
    const figures = await tryInstallation({ archive, nodeFolder, registry: registry.url });
    showRow(COLUMNS.map(([, show]) => show(figures)));
    warnings.push(...figures.warnings);
    console.error(
      `${figures.installedPackages} packages, the same versions at the same places as in package-lock.json`,
    );
  }
  if (warnings.length > 0) throw new Error(`npm warned:\n${warnings.join("\n")}`);
} finally {
  await registry?.stop();
  rmSync(scratch, { recursive: true, force: true });
}
