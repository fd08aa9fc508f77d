// Derives the synchronous Python client from the asynchronous one, word by word, so that both have one source. In the
// source, `# async only` marks what only the asynchronous client has, and `# sync: …` what only the other one has.
import { readFileSync } from "node:fs";
import { GENERATED_NOTICE } from "./markdown.ts";

const MODULES = ["_client", "_connection", "_pages", "_runs"];

const WORDS: [RegExp, string][] = [
  [/^.*# begin: async only\n[\s\S]*?^ *# end\n\n?/gm, ""],
  [/^.*# async only\n/gm, ""],
  [/# sync: /g, ""],
  [/\basync (def|with|for)\b/g, "$1"],
  [/\bawait /g, ""],
  [/\bAsync(?=[A-Z])/g, ""],
  [/\bhttpx\.AsyncClient\b/g, "httpx.Client"],
  [/\b__a(enter|exit|iter)__\b/g, "__$1__"],
  [/\baclosing\b/g, "closing"],
  [/\ba(close|read|iter_bytes)\b/g, "$1"],
  [/\basyncio\.sleep\b/g, "time.sleep"],
  [/, asyncio\.CancelledError/g, ","],
  [/^import asyncio\n/gm, ""],
  [/\.await it, or its wait\(\)/g, ""],
];

/** The synchronous module for the text of an asynchronous one. */
const deriveSync = (source: string): string => WORDS.reduce((text, [from, to]) => text.replace(from, to), source);

export function deriveSyncFiles(folder: string, groups: string): Record<string, string> {
  const derive = (name: string, source: string) => [`${folder}/_sync/${name}.py`, deriveSync(source)] as const;
  const written = MODULES.map((name) => {
    const source = readFileSync(`${folder}/_async/${name}.py`, "utf8");
    return derive(name, `# ${GENERATED_NOTICE} Source: _async/${name}.py\n${source}`);
  });
  return Object.fromEntries([...written, derive("_groups", groups)]);
}
