// Checks that every migration after the baseline can be applied while processes of the previous version run.
import { readMigrations } from "../server/src/db/migrations/migration-files.ts";
import { lintMigration } from "./lint-migration.ts";

const migrations = await readMigrations();
const numbers = migrations.map(({ number }) => number);
const duplicates = numbers.filter((number, index) => numbers.indexOf(number) !== index);
const unknown = migrations.filter(({ kind, lowestProgram }) => kind === "contract" && !numbers.includes(lowestProgram));
const problems = [
  ...duplicates.map((number) => `two migrations have the number ${number}`),
  ...unknown.map(({ name, lowestProgram }) => `${name}: there is no migration ${lowestProgram}`),
  ...(await Promise.all(migrations.map(lintMigration))).flat(),
];
console.log([...problems, `${migrations.length} files, ${problems.length} problems`].join("\n"));
process.exit(problems.length > 0 ? 1 : 0);
