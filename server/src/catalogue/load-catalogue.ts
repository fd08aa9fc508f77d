// Loads the operator's catalogue file. The file is optional unless GESSO_CONFIG names it.
import { readFileSync } from "node:fs";
import { z } from "zod";
import { type ParsedCatalogue, parseCatalogue } from "./parse-catalogue.ts";

export const CatalogueEnv = z.object({
  GESSO_CONFIG: z
    .string()
    .default("gesso.yaml")
    .describe("File that changes providers, prices and their order. Optional"),
});

/** A missing file has the same effect as an empty file. */
export function loadCatalogue(path: string, isNamed: boolean): ParsedCatalogue & { exists: boolean } {
  const text = readIfExists(path);
  const parsed = parseCatalogue(text ?? "", path);
  if (text === undefined && isNamed) {
    const missing = { path: [], message: "file not found; GESSO_CONFIG points to it" };
    return { ...parsed, exists: false, problems: [missing] };
  }
  return { ...parsed, exists: text !== undefined };
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw thrown;
  }
}
