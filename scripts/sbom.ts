// `npm run release -- sbom`: writes what Gesso consists of as CycloneDX documents to dist/sbom, one of all packages and
// one of what the server needs in production. Fails if a document is invalid or a licence is not allowed.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { findLicenceViolations, type LicencePolicy } from "./supply-chain/licences.ts";
import {
  type Lockfile,
  listInstalledPackages,
  listProductionPackages,
  packageNameOf,
} from "./supply-chain/lockfile.ts";
import { completeSbom, findSchemaViolations, type Sbom, selectComponents } from "./supply-chain/sbom.ts";

const FOLDER = "dist/sbom";
const POLICY = new URL("supply-chain/licences.json", import.meta.url);

const { name: project } = JSON.parse(readFileSync("package.json", "utf8")) as { name: string };
const lockfile = JSON.parse(readFileSync("package-lock.json", "utf8")) as Lockfile;
const policy = JSON.parse(readFileSync(POLICY, "utf8")) as LicencePolicy;
const installed = listInstalledPackages(lockfile);
const identityOf = (path: string) => `${packageNameOf(path)}@${lockfile.packages[path]?.version}`;

const parameters = ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"];
const { stdout, stderr, status } = spawnSync("npm", parameters, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
if (status !== 0) {
  console.log(stderr);
  process.exit(1);
}

const licences = new Map(installed.flatMap(([path, { license }]) => (license ? [[identityOf(path), license]] : [])));
const complete = completeSbom(JSON.parse(stdout) as Sbom, project, licences, policy);
const needed = new Set(listProductionPackages(lockfile, "server").map(identityOf));
const documents = { "all-packages": complete, "server-production": selectComponents(complete, needed) };

mkdirSync(FOLDER, { recursive: true });
const violations = findLicenceViolations(
  installed.map(([path, { license }]) => ({ name: packageNameOf(path), licence: license })),
  policy,
);
for (const [name, document] of Object.entries(documents)) {
  writeFileSync(`${FOLDER}/${name}.cdx.json`, `${JSON.stringify(document, undefined, 2)}\n`);
  violations.push(...findSchemaViolations(document).map((violation) => `${name}.cdx.json: ${violation}`));
  console.log(`${FOLDER}/${name}.cdx.json: ${document.components.length} components`);
}
console.log(violations.join("\n") || `all licences are allowed, ${policy.exceptions.length} exceptions by name`);
process.exit(violations.length > 0 ? 1 : 0);
