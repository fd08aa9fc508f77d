// Adds a release to the changelog: what stood under Unreleased and the texts of the changesets, under its version.

const UNRELEASED = /^## Unreleased\n+/m;

export function addRelease(changelog: string, release: { version: string; summaries: readonly string[] }): string {
  const items = release.summaries.map((summary) => `- ${summary.trim().replaceAll("\n", "\n  ")}\n`).join("");
  const heading = `## Unreleased\n\n## ${release.version}\n\n`;
  if (!UNRELEASED.test(changelog)) throw new Error("CHANGELOG.md has no section Unreleased");
  // A function, because a replacement text would read `$` as a pattern.
  return changelog.replace(UNRELEASED, () => `${heading}${items}${items === "" ? "" : "\n"}`);
}
