// Reads the end of a component's log, for error messages.
import { readFileSync } from "node:fs";

/** The last lines written after byte offset `from`. */
export function logTail(path: string, from = 0, lines = 40): string {
  let text: string;
  try {
    text = readFileSync(path).subarray(from).toString("utf8");
  } catch {
    return "";
  }
  return text.trimEnd().split("\n").slice(-lines).join("\n");
}
