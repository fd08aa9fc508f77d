// Finds the tests and suites that a test file declares, with their titles as they stand in its text. An ellipsis stands
// for what a template literal fills in. What is commented out is not declared.

/** `declaredBy` is `it`, `it.each`, `describe` and so on. `table` is the text of the table of a call with `.each`. */
type DeclaredTest = { declaredBy: string; title: string; table: string };

const LITERAL = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\`(?:[^\`\\]|\\.)*\``;
const LITERAL_OR_COMMENT = new RegExp(String.raw`(${LITERAL})|//.*|/\*[\s\S]*?\*/`, "g");
const DECLARATION = String.raw`\b(?:it|test|describe|itOverHttpAndClient)(?:\.\w+)*`;
/** `it("…",`; of a call with a table, such as `test.each(…)("…",`, the title follows the closing parenthesis. */
const TITLE = new RegExp(String.raw`(?:(${DECLARATION})|\))\(\s*(${LITERAL})\s*,`, "g");
const TABLE_START = new RegExp(String.raw`(${DECLARATION}\.each)\b`, "g");

export function listDeclaredTests(text: string): DeclaredTest[] {
  const code = text.replace(LITERAL_OR_COMMENT, (_, literal: string | undefined) => literal ?? "");
  const tables = [...code.matchAll(TABLE_START)];
  return [...code.matchAll(TITLE)].flatMap(({ 1: declaredBy, 2: literal = "", index }) => {
    const title = literal
      .slice(1, -1)
      .replace(/\\(["'`\\])/g, "$1")
      .replace(/\$\{[^}]*\}/g, "…");
    if (declaredBy) return [{ declaredBy, title, table: "" }];
    const start = tables.findLast((table) => table.index < index);
    return start ? [{ declaredBy: start[1]!, title, table: code.slice(start.index, index) }] : [];
  });
}

export const testTitlesIn = (text: string): Set<string> => new Set(listDeclaredTests(text).map(({ title }) => title));
