// Loads the operator's catalogue file. The file is optional unless GESSO_CONFIG names it.
import { readFileSync } from "node:fs";
import { z } from "zod";
import { type ParsedCatalogue, parseCatalogue } from "./parse-catalogue.ts";

export const CatalogueEnv = z.object({
  GESSO_CONFIG: z
    .string()
    .default("gesso.yaml")
    .describe("File that changes providers, prices and their order. Optional"),
  PROVIDERS: z
    .string()
    .default("")
    .transform((text) =>
      text
        .split(",")
        .map((id) => id.trim())
        .filter((id) => id !== ""),
    )
    .describe(
      "The only providers that Gesso may use, comma-separated, besides those that need no settings. Default: all whose " +
        "required settings are set",
    ),
});

/** A missing file has the same effect as an empty file. A file that cannot be read is a problem of the catalogue. */
export function loadCatalogue(path: string, isNamed: boolean): ParsedCatalogue & { exists: boolean } {
  const { text, errorCode } = readText(path);
  const parsed = parseCatalogue(text ?? "", path);
  const problem = errorCode === undefined ? undefined : describeProblem(errorCode, isNamed);
  if (problem === undefined) return { ...parsed, exists: text !== undefined };
  return { ...parsed, exists: errorCode !== "ENOENT", problems: [{ path: [], message: problem }] };
}

function describeProblem(errorCode: string, isNamed: boolean): string | undefined {
  if (errorCode !== "ENOENT")
    return `the file cannot be read (${errorCode}); change its permissions, start in another folder, or set GESSO_CONFIG`;
  return isNamed ? "file not found; GESSO_CONFIG points to it" : undefined;
}

function readText(path: string): { text?: string; errorCode?: string } {
  try {
    return { text: readFileSync(path, "utf8") };
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === undefined) throw thrown;
    return { errorCode: code };
  }
}
