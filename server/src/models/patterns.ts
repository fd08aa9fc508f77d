// Regular expressions of imported schemas. They are run by RE2, whose time is linear in the length of the text: a
// pattern that makes the engine of JavaScript run for hours cannot hold up the API.
import { RE2JS } from "re2js";

/** A longer text fits no pattern, so that one text cannot take the time of many. */
const MAX_TEXT = 100_000;

export type Pattern = { test: (text: string) => boolean; toString: () => string };

/** Throws if the expression is none that RE2 knows, such as one with a look-ahead or a back reference. */
export function compilePattern(source: string): Pattern {
  const compiled = RE2JS.compile(RE2JS.translateRegExp(source));
  return {
    test: (text) => text.length <= MAX_TEXT && compiled.matcher(text).find(),
    // The compiler of validators tells patterns apart by their text.
    toString: () => `re2:${JSON.stringify(source)}`,
  };
}

export function isPattern(source: string): boolean {
  try {
    compilePattern(source);
    return true;
  } catch {
    return false;
  }
}
