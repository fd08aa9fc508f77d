// Counts the members of types that pass capabilities to a function: `…Dependencies` and `…Services`. A type that passes
// on more than a reader can keep in mind is split by what is used together.
import type { SourceFile } from "./source-files.ts";

export const MAX_CAPABILITIES = 8;

type CapabilityType = { name: string; line: number; members: number };

const DECLARATION = /^(?:export )?type (\w*(?:Dependencies|Services)) =/gm;

/** A type that is joined by its name counts once, because it is declared, and counted, elsewhere. */
export const listCapabilityTypes = ({ text }: Pick<SourceFile, "text">): CapabilityType[] => {
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, (comment) => comment.replace(/[^\n]/g, " "));
  return [...code.matchAll(DECLARATION)].map((match) => ({
    name: match[1]!,
    line: code.slice(0, match.index).split("\n").length,
    members: splitOutside(splitOutside(code.slice(match.index + match[0].length), ";")[0]!, "&")
      .map(countMembers)
      .reduce((sum, count) => sum + count, 0),
  }));
};

function countMembers(part: string): number {
  const text = part.trim();
  if (text.startsWith("{")) return splitOutside(text.slice(1, -1), ";").filter((member) => member.trim()).length;
  return text.startsWith("Pick<") ? text.split('"').length >> 1 : 1;
}

/** Splits at a character that is in no brackets. The `>` of an arrow closes none. */
function splitOutside(text: string, at: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const [index, character] of [...text].entries()) {
    if ("{([<".includes(character)) depth++;
    if ("})]>".includes(character) && text[index - 1] !== "=") depth--;
    if (character === at && depth === 0) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts;
}
