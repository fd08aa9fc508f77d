// Checks that an exported name of the server means one thing: no two files declare an export of the same name. A file
// may export a type and a value under one name (a schema and its type).
import { listSourceFiles, type SourceFile } from "./source-files.ts";

const EXPORT = /^export (?:async )?(?:const|let|class|type|function\*?) (\w+)/gm;

const exportsOf = ({ text }: SourceFile) => new Set([...text.matchAll(EXPORT)].map(([, name = ""]) => name));

const files = listSourceFiles(["server/src"]).filter(({ isTest }) => !isTest);
const declarations = new Map<string, string[]>();
for (const file of files) {
  for (const name of exportsOf(file)) declarations.set(name, [...(declarations.get(name) ?? []), file.path]);
}

const duplicates = [...declarations].filter(([, paths]) => paths.length > 1);
const report = duplicates.map(([name, paths]) => `${name} is exported by ${paths.join(" and ")}`);
console.log(report.join("\n") || `${files.length} files, ${declarations.size} exported names, each declared once`);
process.exit(duplicates.length > 0 ? 1 : 0);
