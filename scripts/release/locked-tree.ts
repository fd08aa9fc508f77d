// The packages that the lock file of this repository has for the published package: what was tested, and so what the
// package contains.
import { type LockedPackage, type Lockfile, resolvePackage } from "../supply-chain/lockfile.ts";

const INSTALLED = "node_modules/";

/** `source` is the folder in this repository. `forEverySystem`: not only what is for one system needs it. */
export type TreePackage = LockedPackage & { version: string; source: string; forEverySystem: boolean };

/** By place in the published package, such as `node_modules/a/node_modules/b`. */
export type LockedTree = Record<string, TreePackage>;

type Request = { lockfile: Lockfile; workspaces: readonly string[]; names: readonly string[] };

/**
 * The packages with these names, and all that they load. Throws if one is not locked, or if two workspaces have
 * different versions at the same place.
 */
export function readLockedTree({ lockfile, workspaces, names }: Request): LockedTree {
  const tree: LockedTree = {};
  const visit = (from: string, name: string, everySystem: boolean) => {
    const source = resolvePackage(lockfile.packages, from, name);
    if (source === undefined) return;
    const { version = "", ...locked } = lockfile.packages[source]!;
    // The published package has one folder of packages, where the repository has one per workspace above its own.
    const place = source.slice(source.indexOf(INSTALLED));
    const known = tree[place];
    if (known && known.version !== version)
      throw new Error(`${place} has two versions: ${known.version} and ${version}`);
    const forEverySystem = everySystem && locked.os === undefined && locked.cpu === undefined;
    if (known && (known.forEverySystem || !forEverySystem)) return;
    tree[place] = { ...locked, version, source, forEverySystem };
    for (const needed of listNeeded(locked)) visit(source, needed, forEverySystem);
  };
  for (const workspace of workspaces) for (const name of names) visit(workspace, name, true);
  const missing = names.filter((name) => !(`${INSTALLED}${name}` in tree));
  if (missing.length > 0) throw new Error(`not in package-lock.json: ${missing.join(", ")}`);
  return Object.fromEntries(Object.entries(tree).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function listNeeded({ dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }: LockedPackage) {
  const peers = Object.keys(peerDependencies ?? {}).filter((peer) => !peerDependenciesMeta?.[peer]?.optional);
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
}
