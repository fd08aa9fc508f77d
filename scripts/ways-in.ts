// Lists the ways into Gesso as the code has them: routes, groups of operations, scopes and kinds of credentials. A way
// that no threat names has not been considered.
import { readdirSync, readFileSync } from "node:fs";
import { AGENT_SCOPE, requiredScopes } from "../server/src/access/scopes.ts";
import * as operations from "../server/src/operations/index.ts";

const SOURCES = "server/src";

type Source = { name: string; text: string };
const readSources = (folder: string): Source[] =>
  readdirSync(`${SOURCES}/${folder}`, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map((name) => ({ name: name.replace(/\.ts$/, ""), text: readFileSync(`${SOURCES}/${folder}/${name}`, "utf8") }));

/** The path of a route as its declaration has it: a text, or the name of a constant. */
const ROUTE =
  /\b(?:app|Hono\(\))\s*\.(?:get|post|put|patch|delete|all|on|mount)\(\s*(?:\[[^\]]*\],\s*)?([^\n]+?)(?:,\s|,$|\n)/g;
const DERIVED_SECRET = /\bderiveKeys\("([^"]+)"\)/g;
const SIGN_IN_METHODS = /type SignInMethod = ([^;]+);/;
const CREDENTIAL_SOURCES = /type CredentialSources = \{([^}]+)\}/;

const sorted = (names: Iterable<string>) => [...new Set(names)].sort();

export type WaysIn = { routes: string[]; operations: string[]; scopes: string[]; credentials: string[] };

export function listWaysIn(): WaysIn {
  const declared = Object.values(operations);
  return {
    routes: sorted(readSources("http").flatMap(listRoutes)),
    operations: sorted(declared.map(({ name }) => name.split(".")[0]!)),
    scopes: sorted([...declared.flatMap(requiredScopes), AGENT_SCOPE]),
    credentials: listCredentials(),
  };
}

const listRoutes = ({ name, text }: Source): string[] =>
  [...text.matchAll(ROUTE)].map(([, path]) => {
    const isText = /^[`"[]/.test(path!);
    // The name of a constant says nothing without its file.
    return isText ? path!.replace(/^\[?["`]|["`]\]?$/g, "") : `${name} ${path}`;
  });

/** Secrets that Gesso derives, ways to sign in, and what the authenticator accepts. */
function listCredentials(): string[] {
  const derived = readSources("").flatMap(({ text }) =>
    [...text.matchAll(DERIVED_SECRET)].map(([, purpose]) => purpose!),
  );
  const methods = readFileSync(`${SOURCES}/db/typed-columns.ts`, "utf8").match(SIGN_IN_METHODS)![1]!;
  const sources = readFileSync(`${SOURCES}/access/authentication.ts`, "utf8").match(CREDENTIAL_SOURCES)![1]!;
  return sorted([
    ...derived.map((purpose) => `secret: ${purpose}`),
    ...[...methods.matchAll(/"(\w+)"/g)].map(([, method]) => `sign-in: ${method}`),
    ...[...sources.matchAll(/^\s*(\w+):/gm)].map(([, source]) => `accepted: ${source}`),
  ]);
}
