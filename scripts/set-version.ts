// `npm run release -- set-version 0.2.0`: sets the version of the repository, its packages, the lock file, the chart
// and the image. With `--check` instead of a version, it fails if one of them differs from package.json.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { findDifferingVersions, setVersion, type VersionedFile } from "./release/versioned-files.ts";

const SEMANTIC_VERSION = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/;

const [given = ""] = process.argv.slice(2);
const { version: current, workspaces } = JSON.parse(readFileSync("package.json", "utf8"));
const paths = [
  "package.json",
  ...globSync(workspaces.map((name: string) => `${name}/package.json`)),
  "package-lock.json",
  ...["deploy/chart/Chart.yaml", "deploy/compose.yaml", "deploy/compose.dev.yaml", "docs/guide/docker.md"],
  "python/pyproject.toml",
];
const files: VersionedFile[] = paths.map((path) => ({
  path,
  text: readFileSync(path, "utf8"),
}));

if (given === "--check") {
  const differing = findDifferingVersions(files, current);
  console.log(differing.join("\n") || `${files.length} files have version ${current}`);
  process.exit(differing.length > 0 ? 1 : 0);
}
if (!SEMANTIC_VERSION.test(given)) {
  console.error("Usage: npm run release -- set-version <version>, for example 0.2.0 or 0.2.0-rc.1");
  process.exit(2);
}
for (const file of files) writeFileSync(file.path, setVersion(file, given));
console.log(`${files.length} files have version ${given}. Run npm run generate.`);
