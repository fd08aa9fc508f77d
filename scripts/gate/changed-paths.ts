// Which files have changed since the last landing, and which campaigns follow from it.
import { execFileSync } from "node:child_process";
import { CAMPAIGNS, type Campaign } from "./campaign-list.ts";

/** Where the base is not known, the commits of this long before the newest one count as changed. */
const LANDING_HOURS = 24;

const git = (...parameters: string[]) => execFileSync("git", parameters, { encoding: "utf8" }).trim();

/** Paths that differ from the commit CI_BASE, or else from the last commit before those of the last day. */
export function listChangedPaths(base = process.env.CI_BASE ?? findBase()): string[] {
  return git("diff", "--name-only", base, "HEAD").split("\n").filter(Boolean);
}

/** The empty tree stands for the time before the first commit: then everything has changed. */
function findBase(): string {
  const newest = Number(git("log", "-1", "--format=%ct"));
  const before = newest - LANDING_HOURS * 3600;
  return git("rev-list", "-1", `--before=${before}`, "HEAD") || git("hash-object", "-t", "tree", "/dev/null");
}

export const isGuarded = (path: string, guards: readonly string[]): boolean =>
  guards.some((guard) => path === guard || path.startsWith(`${guard}/`));

export const selectChanged = (paths: readonly string[], campaigns: readonly Campaign[] = CAMPAIGNS): Campaign[] =>
  campaigns.filter(({ when, guards }) => when === "changed" && paths.some((path) => isGuarded(path, guards)));

/** The commit decides, so that the same commit is always attacked by the same campaign. */
export function selectRotating(
  commit = git("rev-parse", "HEAD"),
  campaigns: readonly Campaign[] = CAMPAIGNS,
): Campaign {
  const rotation = campaigns.filter(({ when }) => when === "rotation");
  return rotation[Number.parseInt(commit.slice(0, 8), 16) % rotation.length]!;
}
