// `npm run release -- next-version`: makes the next version from the changesets. It sets the version everywhere, moves
// the texts of the changesets and the unreleased changes under it in CHANGELOG.md, and deletes the changesets.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { addRelease } from "./release/add-release.ts";

type Status = { changesets: { summary: string }[]; releases: { newVersion: string }[] };

const run = (...parameters: string[]) => execFileSync(process.execPath, parameters, { stdio: "inherit" });
const CHANGESET = "node_modules/@changesets/cli/bin.js";

const file = join(mkdtempSync(join(tmpdir(), "gesso-version-")), "status.json");
run(CHANGESET, "status", "--output", relative(".", file));
const { changesets, releases } = JSON.parse(readFileSync(file, "utf8")) as Status;
const [release] = releases;
if (!release) {
  console.error("No changeset names a package. Write one with npx changeset.");
  process.exit(1);
}
run(CHANGESET, "version");
run("scripts/set-version.ts", release.newVersion);
const changelog = readFileSync("CHANGELOG.md", "utf8");
const summaries = changesets.map(({ summary }) => summary);
writeFileSync("CHANGELOG.md", addRelease(changelog, { version: release.newVersion, summaries }));
run("scripts/generate.ts");
