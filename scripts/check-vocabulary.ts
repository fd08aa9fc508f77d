// Checks the words of documentation, error messages, OpenAPI texts, CLI output, test names and comments against a short
// list of words that the project replaced. The list is a reminder, not a style guide: the few right uses stand in
// ALLOWED, each with its reason.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { listSourceFiles } from "./source-files.ts";

/** A word that stays out, and what to write instead. */
const BANNED: [word: RegExp, instead: string][] = [
  [/\bmisfits?\b/i, "validation error, or adjusted parameter"],
  [/\bwho(m)?ever\b/i, "name the person or the part"],
  [/(?<![`\w])(nobody|somebody|anybody)\b/i, "name the person or the part"],
  [/\bstrangers?\b/i, "untrusted client"],
  [/\bin vain\b/i, "until the timeout"],
  [/\bpictures?\b/i, "image"],
  [/\bfilms?\b/i, "video"],
  [/\bpurses?\b/i, "spending limit"],
  [/\bthe books\b/i, "ledger"],
  [/\bstand-ins?\b/i, "fake vendor, or failover offer"],
  [/\bhouse rules?\b/i, "project rules"],
  [/\bprinted (from|by|file)\b/i, "generated"],
  [/\b(is|are|was|were) told\b/i, "receives, is notified"],
];

/** Words that only documentation and messages avoid: code and tests also speak of the companies behind providers. */
const BANNED_FOR_READERS: typeof BANNED = [[/\bvendors\b/i, "providers"]];

/** Right uses: part of a path, a name on the wire, or text of an example. Each pattern is removed before the search. */
const ALLOWED: [use: RegExp, reason: string][] = [
  [
    /docs\/pictures|\.\.\/pictures|\]\([^)]*pictures\/[^)]*\)|pictures\/[\w*-]+\.png/g,
    "the folder of documentation images",
  ],
  [/fake[- ]vendors?(\/[\w./-]*)?/gi, "servers that stand for a vendor's cloud in tests"],
  [/\bvendor[ab]\b|edit-vendor\w*|edits?[./]vendor\w*|vendora-\w+|vendorb-\w+/gi, "names of the interface"],
  [/vendors:(check|record)|vendors\.yml/g, "the comparison with the packages of the vendors"],
  [/\buser nobody\b/g, "the unprivileged user of the operating system"],
  [/x-printed/g, "a key of the OpenAPI document"],
  [/film grain|"film"/g, "a style in example prompts"],
];

const SOURCE_FOLDERS = ["server", "sandbox", "dev", "cli", "sdk", "console", "examples", "docs"];

type Text = { path: string; line: number; text: string };

const markdownFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md") && !path.includes("node_modules"))
    .map((path) => join(folder, path));

const ROOT_PAGES = ["README.md", "CONTRIBUTING.md", "AGENTS.md", "SECURITY.md", "CHANGELOG.md"];
const PACKAGE_PAGES = ["sdk/README.md", "cli/README.md", "sandbox/README.md", "python/README.md"];

function markdownTexts(): Text[] {
  const existing = readdirSync(".").filter((name) => ROOT_PAGES.includes(name));
  return [...existing, ...PACKAGE_PAGES, ...markdownFiles("docs")].flatMap((path) =>
    readFileSync(path, "utf8")
      .split("\n")
      .map((text, index) => ({ path, line: index + 1, text })),
  );
}

/** Messages and descriptions of the contract, which the reference pages and the client repeat. */
function contractTexts(): Text[] {
  const texts: Text[] = [];
  const visit = (value: unknown, path: string): void => {
    if (typeof value === "string" && /\/(summary|description|says|message)$|\/x-rules\//.test(path)) {
      texts.push({ path: `api/openapi.json${path}`, line: 0, text: value });
    }
    if (value === null || typeof value !== "object") return;
    for (const [key, each] of Object.entries(value)) visit(each, `${path}/${key}`);
  };
  visit(JSON.parse(readFileSync("api/openapi.json", "utf8")), "");
  return texts;
}

/** String literals of the files whose strings people read. */
function messageTexts(): Text[] {
  const isRead = (path: string) =>
    /^(cli\/src|dev\/src|sdk\/src|console\/src\/text|server\/src\/(doctor|catalogue|faults|config))/.test(path);
  return listSourceFiles(["cli", "dev", "sdk", "console", "server/src"])
    .filter(({ path, isTest }) => isRead(path) && !isTest)
    .flatMap(({ path, text }) =>
      text.split("\n").flatMap((line, index) => {
        const literals = line.replace(/(^|\s)\/\/.*$/, "").match(/"[^"]{12,}"|`[^`]{12,}`/g) ?? [];
        return literals.map((literal) => ({ path, line: index + 1, text: literal }));
      }),
    );
}

/** Names of tests and suites, also those of `it.each` with a table. */
function testNameTexts(): Text[] {
  const name =
    /(?:\b(?:it|test|describe)(?:\.\w+)?(?:\([^()]*\))?|\](?: as const)?\))\(\s*("(?:[^"\\]|\\.)*"|`[^`]*`)/g;
  return listSourceFiles(SOURCE_FOLDERS)
    .filter(({ isTest }) => isTest)
    .flatMap(({ path, text }) =>
      [...text.matchAll(name)].map(({ index, 1: literal = "" }) => {
        const line = text.slice(0, index).split("\n").length;
        return { path, line, text: literal };
      }),
    );
}

/** Lines of comments, in code and in tests. */
function commentTexts(): Text[] {
  return listSourceFiles(SOURCE_FOLDERS).flatMap(({ path, text }) =>
    text
      .split("\n")
      .map((line, index) => ({ path, line: index + 1, text: line }))
      .filter((line) => /^\s*(\/\/|\/?\*)/.test(line.text)),
  );
}

const withoutAllowed = (text: string) => ALLOWED.reduce((rest, [use]) => rest.replace(use, ""), text);

const findBanned = (texts: Text[], banned: typeof BANNED): string[] =>
  texts.flatMap(({ path, line, text }) => {
    const rest = withoutAllowed(text);
    return banned.flatMap(([word, instead]) => {
      const hit = word.exec(rest);
      return hit ? [`${path}${line > 0 ? `:${line}` : ""}: "${hit[0]}" (write: ${instead})`] : [];
    });
  });

const found = [
  ...findBanned([...markdownTexts(), ...contractTexts(), ...messageTexts()], [...BANNED, ...BANNED_FOR_READERS]),
  ...findBanned([...testNameTexts(), ...commentTexts()], BANNED),
];
console.log(found.join("\n") || `${BANNED.length} words stay out of documentation, messages, test names and comments`);
process.exit(found.length > 0 ? 1 : 0);
