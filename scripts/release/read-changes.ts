// The section of the changelog that belongs to a version: its own, or the one of unreleased changes before a release.

/** Throws if there is nothing to tell. A pre-release has the changes that are not released yet. */
export function readChanges(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const find = (title: string) => sections.find((section) => section.startsWith(title));
  const section = find(`${version}\n`) ?? find(`${version} `) ?? find("Unreleased\n");
  const text = section?.slice(section.indexOf("\n")).trim();
  if (!text) throw new Error(`CHANGELOG.md has no changes for ${version}`);
  return `${text}\n`;
}
