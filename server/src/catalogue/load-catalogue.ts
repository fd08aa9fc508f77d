// Finds the operator's file. Nobody needs one; but one that was asked for by name must be there.
import { readFileSync } from "node:fs";
import { z } from "zod";
import { type ParsedCatalogue, parseCatalogue } from "./parse-catalogue.ts";

export const CatalogueEnv = z.object({
  GESSO_CONFIG: z
    .string()
    .default("gesso.yaml")
    .describe("File in which providers, prices and their order are changed; it need not be there"),
});

/** What holds without a file is the same as what an empty one message. */
export function loadCatalogue(path: string, isNamed: boolean): ParsedCatalogue & { exists: boolean } {
  const text = textOf(path);
  const reading = parseCatalogue(text ?? "", path);
  if (text === undefined && isNamed) {
    const missing = { path: [], message: "file not found; GESSO_CONFIG points to it" };
    return { ...reading, exists: false, problems: [missing] };
  }
  return { ...reading, exists: text !== undefined };
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw thrown;
  }
}
