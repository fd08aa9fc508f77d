// Writes THIRD-PARTY-NOTICES.txt: the licence texts of the packages whose code or fonts are inside the built console.
// Dependencies that npm installs bring their own. Fails if a package has no licence text.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const NOTICES_FILE = "THIRD-PARTY-NOTICES.txt";

/** They state a licence and ship no text of it. Their notice says so, instead of a text that is not theirs. */
const WITHOUT_TEXT = ["thumbhash"];

type Notice = { name: string; version: string; licence: string; text: string };

/** Folders of packages, from names of files: `node_modules/@scope/name/x.js` is in `node_modules/@scope/name`. */
export function findPackageFolders(files: readonly string[]): string[] {
  const folders = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  return [...new Set(folders)].sort();
}

function readNotice(folder: string): Notice {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const [file] = globSync("{LICENSE,LICENCE,license,licence}{,.md,.txt,-MIT}", { cwd: folder });
  if (file === undefined && WITHOUT_TEXT.includes(name)) {
    const text = `The package states the licence ${license} and contains no text of it.`;
    return { name, version, licence: license, text: `${text} Its source: https://www.npmjs.com/package/${name}` };
  }
  if (file === undefined) throw new Error(`${name} is in the console and has no licence text`);
  return { name, version, licence: license, text: readFileSync(join(folder, file), "utf8").trim() };
}

/** `listFile` is what the build of the console says that it contains. */
export function writeNotices(listFile: string, target: string): void {
  const files = JSON.parse(readFileSync(listFile, "utf8")) as string[];
  const notices = findPackageFolders(files).map(readNotice);
  if (!notices.some(({ licence }) => licence === "OFL-1.1")) throw new Error("the fonts of the console are missing");
  const head = "The console of Gesso (console/dist) contains the following packages. Each keeps its own licence.";
  const parts = notices.map(
    ({ name, version, licence, text }) => `${"=".repeat(80)}\n${name} ${version} (${licence})\n\n${text}\n`,
  );
  writeFileSync(join(target, NOTICES_FILE), `${head}\n\n${parts.join("\n")}`);
}
