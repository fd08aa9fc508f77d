// `npm run try:package`: tries the built package as a user does (release/trial/try-installation.ts) and prints a table:
// seconds, megabytes, idle CPU and memory. By default without install scripts and with the Node.js of the system;
// `--scripts` runs them, `--node <folder>` names the folder of another Node.js, and `--matrix` tries Node.js 20, 22 and
// 24, each without and with install scripts.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildPackage } from "./release/build-package.ts";
import { createTrialEnvironment } from "./release/trial/environment.ts";
import { type TrialFigures, tryInstallation } from "./release/trial/try-installation.ts";

const NODE_VERSIONS = ["20", "22", "24"];
const COLUMNS: [title: string, show: (figures: TrialFigures) => string][] = [
  ["Node.js", ({ node }) => node],
  ["npm", ({ npm }) => npm],
  ["Install scripts", ({ scripts }) => (scripts ? "yes" : "no")],
  ["Install", ({ installSeconds }) => `${installSeconds.toFixed(1)} s`],
  ["Size", ({ installMegabytes }) => `${installMegabytes} MB`],
  ["Ready", ({ readySeconds }) => `${readySeconds.toFixed(1)} s`],
  ["First image", ({ imageSeconds }) => `${imageSeconds.toFixed(2)} s`],
  ["Idle CPU", ({ idle }) => `${idle.cpuPercent.toFixed(1)} %`],
  ["Memory", ({ idle }) => `${idle.megabytes.toFixed(0)} MB`],
];

const { values } = parseArgs({
  options: { scripts: { type: "boolean" }, node: { type: "string" }, matrix: { type: "boolean" } },
});
const scratch = mkdtempSync(join(tmpdir(), "gesso-trial-"));
const showRow = (cells: string[]) => console.log(`| ${cells.join(" | ")} |`);

/** Node.js as an npm package without an install script. */
function installNode(version: string): string {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(scratch, `node-${version}`);
  mkdirSync(folder, { recursive: true });
  const env = createTrialEnvironment(folder, undefined);
  execFileSync("npm", ["install", "--ignore-scripts", "--silent", `${name}@${version}`], { cwd: folder, env });
  return join(folder, "node_modules", name, "bin");
}

function packPackage(): string {
  const target = resolve("dist/package");
  buildPackage(target);
  const packed = execFileSync("npm", ["pack", target, "--silent", "--pack-destination", scratch], { encoding: "utf8" });
  return join(scratch, packed.trim());
}

try {
  const archive = packPackage();
  const trials = values.matrix
    ? NODE_VERSIONS.flatMap((version) => [false, true].map((scripts) => ({ version, scripts })))
    : [{ version: undefined, scripts: values.scripts ?? false }];
  showRow(COLUMNS.map(([title]) => title));
  showRow(COLUMNS.map(() => "---"));
  for (const { version, scripts } of trials) {
    const nodeFolder = version ? installNode(version) : values.node;
    const figures = await tryInstallation({ archive, nodeFolder, scripts });
    showRow(COLUMNS.map(([, show]) => show(figures)));
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
