// Where the operator's file is. Our programs work in folders of their own, so a path that a person gave, or the file in
// the folder that gesso was called in, is made whole before it is handed on.
import { existsSync } from "node:fs";
import { resolve } from "node:path";

const USUAL = "gesso.yaml";

export function catalogueSetting(): Record<string, string> {
  const named = process.env.GESSO_CONFIG;
  if (named) return { GESSO_CONFIG: resolve(named) };
  return existsSync(USUAL) ? { GESSO_CONFIG: resolve(USUAL) } : {};
}
