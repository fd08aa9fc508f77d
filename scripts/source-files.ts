// Reads the hand-written source files for the checks.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export type SourceFile = { path: string; text: string; lines: number; isTest: boolean };

const PROGRAM = /\.(tsx?|js)$/;
const EXCLUDED_FOLDERS = /(^|\/)(node_modules|\.gesso|generated|coverage|dist)(\/|$)/;

export function listSourceFiles(folders: string[]): SourceFile[] {
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
