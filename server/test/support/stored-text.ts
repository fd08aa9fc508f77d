// Everything that an environment has stored, as text that a test can search: rows of the database, the engine's journal
// and its files, and files of a folder.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { TestEnvironment } from "./test-environment.ts";

/** Every row of every table, as text; what is bytes is read as bytes too. */
export async function readAllRows(environment: TestEnvironment): Promise<string> {
  const tables = await environment.query<{ name: string }>(
    "select oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
  );
  const rows = await Promise.all(
    tables.map(({ name }) => environment.query(`select to_jsonb(t)::text as row from ${name} as t`)),
  );
  const text = rows.flat().map(({ row }) => String(row));
  const bytes = text.flatMap((row) =>
    [...row.matchAll(/\\\\x([0-9a-f]+)/g)].map(([, hex]) => Buffer.from(hex!, "hex").toString("latin1")),
  );
  return [...text, ...bytes].join("\n");
}

/** What the engine reports about every invocation, with its steps, and its files on disk. */
export async function readEngineData(environment: TestEnvironment): Promise<string> {
  const ask = async (query: string) => {
    const response = await fetch(`${environment.adminUrl}/query`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ query }),
    });
    return response.text();
  };
  const reported = await Promise.all(
    ["select * from sys_journal", "select * from sys_invocation", "select * from state"].map(ask),
  );
  return `${reported.join("\n")}\n${readFilesBelow(environment.restateDir)}`;
}

export const readFilesBelow = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
    .map((path) => readFileSync(path, "latin1"))
    .join("\n");

/** Those of the secrets that the text contains, as they are or in a common encoding. */
export const findSecretsIn = (text: string, secrets: string[]): string[] =>
  secrets.filter((secret) => encodingsOf(secret).some((encoded) => text.includes(encoded)));

function encodingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [secret, bytes.toString("base64").replace(/=+$/, ""), bytes.toString("hex"), bytes.toString("base64url")];
}
