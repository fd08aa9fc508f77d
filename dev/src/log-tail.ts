// Reads the end of a part's log, so that an error can show what the part itself said.
import { readFileSync } from "node:fs";

/** The last lines that were written after the byte `from`. */
export function logTail(path: string, from = 0, lines = 40): string {
  let text: string;
  try {
    text = readFileSync(path).subarray(from).toString("utf8");
  } catch {
    return "";
  }
  return text.trimEnd().split("\n").slice(-lines).join("\n");
}
