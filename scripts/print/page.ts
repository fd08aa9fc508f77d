// The words and the little syntax that all printed pages share.
export const PRINTED = "Printed by `npm run generate` from the code; never edited by hand.";

/** A cell of a Markdown table: no line breaks, no bare bars. */
const cell = (text: string) => text.replaceAll("\n", " ").replaceAll("|", "\\|");

export function table(heads: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(heads), `|${heads.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

export const code = (value: unknown) => `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;

export const page = (title: string, ...parts: string[]) =>
  `<!-- ${PRINTED} -->\n\n# ${title}\n\n${parts.join("\n\n")}\n`;
