// What the terminal can show, and text that cannot harm it. Standard output is data, standard error is for people.
// Without a terminal, in CI and under an agent the CLI asks nothing and prints JSON.
import { styleText } from "node:util";

export type OutputFlags = { json?: boolean; quiet?: boolean };

/** `json` was asked for and is what the API returned; `brief` is JSON for programs, with short lists. */
export type OutputMode = "json" | "brief" | "quiet" | "text";

const AGENT_VARIABLES = ["CLAUDECODE", "CI"];

export const isAgent = (): boolean => AGENT_VARIABLES.some((name) => Boolean(process.env[name]));

/** A program reads the output, so nothing is asked. */
export const isUnattended = (): boolean => !process.stdout.isTTY || isAgent();

export function selectOutputMode({ json, quiet }: OutputFlags): OutputMode {
  if (quiet) return "quiet";
  if (json) return "json";
  return isUnattended() ? "brief" : "text";
}

/** Whether a stream takes colours, links and images. */
export const takesEscapes = (stream: NodeJS.WriteStream): boolean =>
  Boolean(stream.isTTY) && !process.env.NO_COLOR && process.env.TERM !== "dumb";

type TextStyle = Parameters<typeof styleText>[0];

export const paint = (style: TextStyle, text: string, stream: NodeJS.WriteStream = process.stderr): string =>
  takesEscapes(stream) ? styleText(style, text, { validateStream: false }) : text;

/** Control characters, and characters that change the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const HARMFUL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const toEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** A text of a prompt or a server on one line, with control characters made visible. */
export const toHarmlessText = (text: string): string => text.replace(/[\r\n\t]+/g, " ").replace(HARMFUL, toEscape);

/** Several lines stay several lines. */
export const toHarmlessLines = (text: string): string => text.split(/\r?\n/).map(toHarmlessText).join("\n");

/** JSON on one line. JSON itself lets some control characters through. */
export const toJsonLine = (value: unknown): string => JSON.stringify(value).replace(HARMFUL, toEscape);

export const writeData = (line: string): void => void process.stdout.write(`${line}\n`);
export const writeNote = (line: string): void => void process.stderr.write(`${line}\n`);

/** Cents, and three significant digits below a dollar. */
export function formatAmount(amount: number): string {
  const magnitude = Math.abs(amount);
  if (magnitude === 0 || magnitude >= 1) return `$${amount.toFixed(2)}`;
  const digits = amount.toFixed(Math.min(20, 2 - Math.floor(Math.log10(magnitude))));
  return `$${digits.replace(/(\.\d\d\d*?)0+$/, "$1")}`;
}
