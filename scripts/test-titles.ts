// Finds the titles of tests and suites in a test file, as they stand in its text. An ellipsis stands for what a
// template literal fills in.

/** `it("…",`, `test.each(…)("…",` and so on; of a call with a table, the title follows the closing parenthesis. */
const TITLE =
  /(?:\b(?:it|test|describe)(?:\.\w+)*|\))\(\s*("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)\s*,/g;

/** Lines that are comments: a test that is commented out is not there. */
const COMMENT_LINE = /^\s*(\/\/|\/?\*).*$/gm;

export const testTitlesIn = (text: string): Set<string> =>
  new Set(
    [...text.replace(COMMENT_LINE, "").matchAll(TITLE)].map(([, literal = ""]) =>
      literal
        .slice(1, -1)
        .replace(/\\(["'`\\])/g, "$1")
        .replace(/\$\{[^}]*\}/g, "…"),
    ),
  );
