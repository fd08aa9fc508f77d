// What `gesso webhooks` shows: people read standard error, programs standard output. Plain where nobody looks, and where
// somebody asked for it with NO_COLOR.
import { styleText } from "node:util";
import type { PostResult } from "./post-message.ts";

type Style = Parameters<typeof styleText>[0];

export const colorize = (style: Style, text: string): string => styleText(style, text, { stream: process.stderr });
export const printLine = (line: string): void => void process.stderr.write(`${line}\n`);
export const print = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

const clock = (at = new Date()) => at.toTimeString().slice(0, 8);
const TYPE_WIDTH = 26;
const ID_WIDTH = 40;
const MAX_RESPONSE_TEXT = 60;

/** One line for each time that a message was sent: when, what, of which run, and what came of it. */
export type SentMessage = {
  type: string;
  subject: string;
  answer: PostResult;
  duration_ms: number;
  then?: string | undefined;
};

export function formatSentLine({ type, subject, answer, duration_ms, then }: SentMessage): string {
  const [style, result] = resultOf(answer);
  const known = [clock(), colorize("bold", type.padEnd(width(type))), subject.padEnd(ID_WIDTH)];
  const took = colorize("dim", `${duration_ms} ms`);
  const rest = [wordsOf(answer), then].flatMap((words) => (words ? [colorize("dim", words)] : []));
  return ["", ...known, colorize(style, result), took, ...rest].join("  ");
}

/** The usual types stand in a column; the long one makes room for itself. */
const width = (type: string) => (type.length <= 14 ? 14 : TYPE_WIDTH);

function resultOf(answer: PostResult): [Style, string] {
  if ("error" in answer) return ["red", answer.says];
  const { status } = answer;
  return [status >= 200 && status < 300 ? "green" : status < 500 ? "yellow" : "red", String(status)];
}

/** What a receiver that did not take it has to say for itself, as far as it goes on the line. */
function wordsOf(answer: PostResult): string {
  if ("error" in answer || answer.status < 300) return "";
  const words = answer.text.replace(/[\s\p{C}]+/gu, " ").trim();
  return words.length > MAX_RESPONSE_TEXT ? `${words.slice(0, MAX_RESPONSE_TEXT)}…` : words;
}

export const printNote = (text: string): void => printLine(`  ${clock()}  ${colorize("cyan", text)}`);

export const formatSeconds = (ms: number): string => `${Number((ms / 1000).toFixed(ms < 9_950 ? 1 : 0))} s`;
export const pluralize = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? "" : "s"}`;
