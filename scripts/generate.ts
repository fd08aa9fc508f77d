// Prints everything that is derived from the code: the contract, the reference pages and the example of settings.
// With `--check` it writes nothing and fails when a printed file is not what it would print now.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { printOpenApi } from "../server/src/http/openapi.ts";
import { printClient } from "./print/client.ts";
import { printContract } from "./print/contract.ts";
import { printEnvironment, printExample } from "./print/environment.ts";
import { printErrors } from "./print/errors.ts";
import { printOperations } from "./print/operations.ts";
import { printProviders } from "./print/providers.ts";

const contract = printOpenApi();

const PRINTED: Record<string, string> = {
  "api/openapi.json": printContract(contract),
  "docs/reference/operations.md": printOperations(contract),
  "docs/reference/errors.md": printErrors(),
  "docs/reference/environment.md": printEnvironment(),
  "docs/reference/providers.md": printProviders(),
  ".env.example": printExample(),
  ...printClient(contract),
};

const isStale = (path: string) => !existsSync(path) || readFileSync(path, "utf8") !== PRINTED[path];
const stale = Object.keys(PRINTED).filter(isStale);

if (process.argv.includes("--check")) {
  if (stale.length > 0) console.log(`not what the code says; run npm run generate:\n${stale.join("\n")}`);
  process.exit(stale.length > 0 ? 1 : 0);
}
for (const path of stale) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, PRINTED[path] ?? "");
}
console.log(stale.length > 0 ? `printed ${stale.join(", ")}` : "everything printed is as it should be");
