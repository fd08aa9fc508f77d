// Reads and replaces the version in the files that have one: manifests, the lock file with its workspaces, the chart
// with the version of the application, the Python client, and the tag of the image in Compose files and the guide.

export type VersionedFile = { path: string; text: string };
type Manifest = { version: string; packages?: Record<string, { version?: string; link?: boolean }> };

/** Of the lock file, the root and the workspaces; what npm installed is below node_modules. */
const ownPackages = ({ packages = {} }: Manifest) =>
  Object.entries(packages).filter(([path]) => !path.includes("node_modules"));

const IMAGE_VERSION = /(?<=\bgesso:|\bVERSION=)\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]*[0-9A-Za-z])?/g;
const TOML_VERSION = /(?<=^version = ")[^"]+/gm;
const namesImage = (path: string) => path.includes("compose") || path.endsWith(".md");

function readVersions({ path, text }: VersionedFile): string[] {
  if (namesImage(path)) return text.match(IMAGE_VERSION) ?? ["none"];
  if (path.endsWith(".yaml"))
    return [...text.matchAll(/^(?:version|appVersion): *"?([^"\s]+)"?/gm)].map(([, version = ""]) => version);
  if (path.endsWith(".toml")) return [...text.matchAll(TOML_VERSION)].map(([version]) => version);
  const manifest = JSON.parse(text) as Manifest;
  return [manifest.version, ...ownPackages(manifest).map(([, { version = "none" }]) => version)];
}

export const findDifferingVersions = (files: readonly VersionedFile[], version: string): string[] =>
  files.flatMap((file) => {
    const found = readVersions(file).filter((each) => each !== version);
    return found.length > 0 ? [`${file.path}: ${found.join(", ")} instead of ${version}`] : [];
  });

export function setVersion({ path, text }: VersionedFile, version: string): string {
  if (namesImage(path)) return text.replaceAll(IMAGE_VERSION, version);
  if (path.endsWith(".yaml")) return text.replaceAll(/^(version|appVersion):.*$/gm, `$1: ${version}`);
  if (path.endsWith(".toml")) return text.replaceAll(TOML_VERSION, version);
  const manifest = JSON.parse(text) as Manifest;
  manifest.version = version;
  for (const [, own] of ownPackages(manifest)) own.version = version;
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
