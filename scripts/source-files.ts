// Reads the source files for the checks: those written by hand and, on request, the generated ones.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export type SourceFile = { path: string; text: string; lines: number; isTest: boolean };

const PROGRAM = /\.(tsx?|js)$/;
const EXCLUDED_FOLDERS = /(^|\/)(node_modules|\.gesso|coverage|dist)(\/|$)/;
const GENERATED_FOLDER = /(^|\/)generated(\/|$)/;

export const listSourceFiles = (folders: string[]): SourceFile[] =>
  listFilesWithGenerated(folders).filter(({ path }) => !GENERATED_FOLDER.test(path));

export function listFilesWithGenerated(folders: string[]): SourceFile[] {
  return folders
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => join(folder, path)))
    .filter((path) => PROGRAM.test(path) && !EXCLUDED_FOLDERS.test(path))
    .sort()
    .map((path) => {
      const text = readFileSync(path, "utf8");
      return { path, text, lines: text.split("\n").length - 1, isTest: isTest(path) };
    });
}

const isTest = (path: string) => /\.(test|contract)\.tsx?$/.test(path) || path.split("/")[1] === "test";
