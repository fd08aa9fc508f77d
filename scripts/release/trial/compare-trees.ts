// Compares the packages that npm installed with those of the lock file: the same version at the same place, none more,
// and none fewer except for other systems.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { LockedTree } from "../locked-tree.ts";

const PACKAGES = ["node_modules/*/package.json", "node_modules/@*/*/package.json"];

const nameOf = (place: string) => place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);

/** Places below `folder`, such as `node_modules/a/node_modules/b`, with their versions. */
function listInstalled(folder: string, place = ""): Map<string, string> {
  const found = new Map<string, string>();
  for (const file of globSync(PACKAGES, { cwd: join(folder, place) })) {
    const below = join(place, dirname(file));
    found.set(below, JSON.parse(readFileSync(join(folder, place, file), "utf8")).version);
    for (const [path, version] of listInstalled(folder, below)) found.set(path, version);
  }
  return found;
}

/**
 * One sentence per difference. `folder` is that of the installed package; `added` are packages that the lock file does
 * not have, by name with version.
 */
export function compareTrees(folder: string, tree: LockedTree, added: Record<string, string> = {}) {
  const installed = listInstalled(folder);
  const missing = Object.entries(tree).flatMap(([place, { version, forEverySystem }]) => {
    const found = installed.get(place);
    if (found === version || (found === undefined && !forEverySystem)) return [];
    return [`${place}: ${found ?? "nothing"} instead of ${version}`];
  });
  const isAdded = (place: string) => added[place.slice("node_modules/".length)] === installed.get(place);
  // npm leaves what only a package for another system needs, elsewhere and unused.
  const ofOtherSystems = Object.entries(tree).flatMap(([place, { forEverySystem }]) =>
    forEverySystem ? [] : nameOf(place),
  );
  const isUnused = (place: string) => ofOtherSystems.includes(nameOf(place));
  const stray = [...installed.keys()].filter((place) => !(place in tree) && !isAdded(place) && !isUnused(place));
  const differences = [...missing, ...stray.map((place) => `${place} is not in the lock file`)];
  return { packages: installed.size, differences };
}
