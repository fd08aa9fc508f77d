// `npm run release`: builds what a release publishes into dist/release, checks it, and prints it with checksums. It
// publishes nothing by itself: the commands for that are printed last. With `--names`, it also asks the registry
// whether the names of the packages are free or hold an older version.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildDevPackage, buildPackage } from "./release/build-package.ts";
import { countLicences } from "./release/count-licences.ts";
import { lintPackage } from "./release/lint-package.ts";
import { CLIENT_NAME, DEV_PACKAGE_NAME, PACKAGE_NAME, VERSION } from "./release/package-names.ts";
import { readChanges } from "./release/read-changes.ts";

const TARGET = resolve("dist/release");
const PACKAGE_FOLDER = resolve("dist/package");
const DEV_PACKAGE_FOLDER = resolve("dist/package-dev");
const CLIENT_FOLDER = resolve("sdk/dist");

const run = (command: string, ...parameters: string[]) =>
  execFileSync(command, parameters, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

function pack(folder: string): void {
  run("npm", "pack", folder, "--silent", "--pack-destination", TARGET);
}

/** As helm packs it: one folder with the name of the chart. The same files give the same archive. */
function packChart(): void {
  const archive = join(TARGET, `${PACKAGE_NAME}-chart-${VERSION}.tgz`);
  const same = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];
  const left = ["--exclude=chart/tests", "--exclude=chart/values-*.yaml"];
  run(
    "tar",
    "--use-compress-program=gzip --no-name",
    ...same,
    ...left,
    `--transform=s,^chart,${PACKAGE_NAME},`,
    ...["-C", "deploy", "-cf", archive, "chart"],
  );
}

/** Undefined: the name is free. */
function findPublishedVersion(name: string): string | undefined {
  const { status, stdout } = spawnSync("npm", ["view", name, "version"], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

function describeName(name: string): string {
  const published = findPublishedVersion(name);
  if (published === undefined) return `${name}: free on this registry`;
  return `${name}: has version ${published}. Publish only if it is yours`;
}

rmSync(TARGET, { recursive: true, force: true });
mkdirSync(TARGET, { recursive: true });
const changes = readChanges(readFileSync("CHANGELOG.md", "utf8"), VERSION);

console.log(`Gesso ${VERSION}`);
buildPackage(PACKAGE_FOLDER);
buildDevPackage(DEV_PACKAGE_FOLDER);
run("npm", "run", "--silent", "build", "-w", "sdk");
const problems = await lintPackage(PACKAGE_FOLDER);
if (problems.length > 0) throw new Error(`publint finds ${problems.length} problems:\n${problems.join("\n")}`);
console.log("publint: no problems");
console.log(run("npm", "run", "--silent", "check", "-w", "sdk").trim());
console.log(run(process.execPath, "scripts/sbom.ts").trim());
for (const folder of [PACKAGE_FOLDER, DEV_PACKAGE_FOLDER, CLIENT_FOLDER]) pack(folder);
packChart();
for (const name of ["all-packages", "server-production"])
  writeFileSync(join(TARGET, `${name}.cdx.json`), readFileSync(join("dist/sbom", `${name}.cdx.json`)));
writeFileSync(join(TARGET, "CHANGES.md"), changes);
console.log(`licences of the server: ${countLicences(join(TARGET, "server-production.cdx.json"))}`);
console.log(`licences of all packages: ${countLicences(join(TARGET, "all-packages.cdx.json"))}`);

const files = readdirSync(TARGET).sort();
const digestOf = (file: string) =>
  createHash("sha256")
    .update(readFileSync(join(TARGET, file)))
    .digest("hex");
writeFileSync(join(TARGET, "SHA256SUMS"), files.map((file) => `${digestOf(file)}  ${file}\n`).join(""));

console.log("\ndist/release:");
for (const file of files)
  console.log(
    `  ${file.padEnd(34)}${String(statSync(join(TARGET, file)).size).padStart(9)} bytes  sha256 ${digestOf(file)}`,
  );
if (process.argv.includes("--names"))
  console.log(`\n${[PACKAGE_NAME, DEV_PACKAGE_NAME, CLIENT_NAME].map(describeName).join("\n")}`);
console.log(`\nA release publishes, all with version ${VERSION}:
  npm packages ${CLIENT_NAME}, ${DEV_PACKAGE_NAME} and ${PACKAGE_NAME}, image gesso:${VERSION}${existsSync("deploy/Dockerfile") ? "" : " (no deploy/Dockerfile here yet)"}, chart gesso${existsSync("deploy/chart/Chart.yaml") ? "" : " (no deploy/chart here yet)"}
Nothing was published. .github/workflows/release.yml does it after
  git tag -s v${VERSION} && git push origin v${VERSION}
with npm provenance, cosign signatures of checksums, image and chart, and the attested SBOM.`);
