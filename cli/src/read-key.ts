// Reads the key of Gesso or of a provider: from a pipe, or typed on a terminal without showing it.
import { text } from "node:stream/consumers";
import { commandError } from "./exit-codes.ts";

const ENTER = ["\r", "\n"];
const BACKSPACE = ["\u007f", "\b"];
const END_OF_INPUT = "\u0004";
const INTERRUPT = "\u0003";

/** The first line of standard input. */
export const readPipedKey = async (): Promise<string> => requireKey((await text(process.stdin)).split("\n")[0] ?? "");

/** The terminal is in raw mode, so that it does not echo the key. */
export async function askForKey(question: string): Promise<string> {
  const { stdin, stderr } = process;
  stderr.write(question);
  stdin.setRawMode(true);
  stdin.setEncoding("utf8");
  try {
    return requireKey(await readHiddenLine());
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write("\n");
  }
}

async function readHiddenLine(): Promise<string> {
  let typed = "";
  for await (const chunk of process.stdin.iterator({ destroyOnReturn: false })) {
    for (const character of String(chunk)) {
      if (character === INTERRUPT) throw commandError("interrupted", "Canceled. Nothing was changed.");
      if (ENTER.includes(character) || character === END_OF_INPUT) return typed;
      typed = BACKSPACE.includes(character) ? typed.slice(0, -1) : typed + character;
    }
  }
  return typed;
}

function requireKey(line: string): string {
  const key = line.trim();
  if (key === "") throw commandError("auth", "No API key was entered. Nothing was changed.");
  if (/[^\x21-\x7e]/.test(key))
    throw commandError("auth", "This is not an API key: it contains spaces or other characters that keys do not have.");
  return key;
}
