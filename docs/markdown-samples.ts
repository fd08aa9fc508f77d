// Reads the code samples of a Markdown page together with the hidden set-up and assertions around them.
//
// The convention, in HTML comments that readers never see:
// - `test:before`, directly above a `ts`, `python` or `bash` block: set-up in the language of the block.
// - `test:`, directly below a block: assertions in the language of the block.
// - `test:skip <reason>`, directly above a block: the block does not run.
// - `test:none <reason>`, anywhere: the page needs no running sample.
// Blocks in other languages (json, http, text, mermaid, `ts receiver <file>`) never run.

export type Sample = {
  language: "ts" | "python" | "bash";
  /** Line of the opening fence in the page. */
  line: number;
  /** The block with its set-up and assertions. Every line has the number that it has in the page. */
  code: string;
  hasAssertions: boolean;
  skipReason?: string;
};

export type Page = { samples: Sample[]; withoutSamplesReason?: string; problems: string[] };

type Comment = { kind: "before" | "after" | "skip" | "none"; text: string };
type Item = { start: number; end: number } & (
  | { type: "fence"; info: string; text: string }
  | ({ type: "comment" } & Comment)
);

/** Names under which a sample would silently not run. */
const ALIASES = /^(js|javascript|typescript|py|python3|sh|shell|zsh|console|bash .*|ts (?!receiver \S+$).*|)$/;

export function parsePage(text: string): Page {
  const items = parseItems(text);
  const problems: string[] = [];
  const report = ({ start }: Item, problem: string) => problems.push(`line ${start}: ${problem}`);
  const samples: Sample[] = [];
  const attached = new Set<Item>();

  items.forEach((item, index) => {
    if (item.type !== "fence") return;
    if (ALIASES.test(item.info))
      report(item, `write \`ts\`, \`python\`, \`bash\` or a language that never runs, not "${item.info}"`);
    if (item.info !== "ts" && item.info !== "python" && item.info !== "bash") return;
    const above = adjacent(items[index - 1], item, text);
    const below = adjacent(item, items[index + 1], text);
    const setUp = above?.type === "comment" && (above.kind === "before" || above.kind === "skip") ? above : undefined;
    const assertions = below?.type === "comment" && below.kind === "after" ? below : undefined;
    for (const comment of [setUp, assertions]) if (comment) attached.add(comment);
    const pieces = [setUp?.kind === "before" ? setUp : undefined, item, assertions].filter(
      (piece) => piece !== undefined,
    );
    const skipReason = setUp?.kind === "skip" ? setUp.text.trim() : undefined;
    if (skipReason === "") report(item, "test:skip needs a reason");
    if (skipReason !== undefined && assertions) report(assertions, "a skipped sample has no assertions");
    const code = placeOnLines(pieces);
    samples.push({ language: item.info, line: item.start, code, hasAssertions: assertions !== undefined, skipReason });
  });

  const none = items.find((item) => item.type === "comment" && item.kind === "none");
  for (const item of items) {
    if (item.type !== "comment" || attached.has(item) || item.kind === "none") continue;
    report(item, `test:${item.kind === "after" ? "" : item.kind} belongs to no \`ts\`, \`python\` or \`bash\` block`);
  }
  const withoutSamplesReason = none?.text.trim();
  if (none && !withoutSamplesReason) report(none, "test:none needs a reason");
  return { samples, withoutSamplesReason, problems };
}

const OPENINGS = /^```(.*)\n([\s\S]*?)^```$|^<!-- test:(before|skip|none)?(?=\s)([\s\S]*?)-->$/gm;

function parseItems(text: string): Item[] {
  return [...text.matchAll(OPENINGS)].map((match): Item => {
    const start = lineAt(text, match.index);
    const end = start + match[0].split("\n").length - 1;
    if (match[1] !== undefined)
      return { type: "fence", start, end, info: match[1].trim(), text: `\n${match[2] ?? ""}` };
    const kind = (match[3] ?? "after") as Comment["kind"];
    return { type: "comment", start, end, kind, text: match[4] ?? "" };
  });
}

const lineAt = (text: string, index: number) => text.slice(0, index).split("\n").length;

/** The neighbour of `item` if only blank lines are between the two. */
function adjacent(first: Item | undefined, second: Item | undefined, text: string): Item | undefined {
  if (!first || !second) return undefined;
  const between = text.split("\n").slice(first.end, second.start - 1);
  if (between.some((line) => line.trim() !== "")) return undefined;
  return first.type === "comment" ? first : second;
}

function placeOnLines(pieces: readonly Item[]): string {
  const lines: string[] = [];
  for (const { start, text } of pieces) {
    text.split("\n").forEach((line, offset) => {
      lines[start - 1 + offset] = line;
    });
  }
  return Array.from(lines, (line) => line ?? "").join("\n");
}

/** Headings and `id`s of a page, as GitHub turns them into anchors. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set([...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, id]) => id ?? ""));
  const counts = new Map<string, number>();
  for (const [, heading] of text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/^#{1,6} (.+)$/gm)) {
    const plain = (heading ?? "").replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
    const slug = plain
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
      .replaceAll(" ", "-");
    const count = counts.get(slug) ?? 0;
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
    counts.set(slug, count + 1);
  }
  return anchors;
}
