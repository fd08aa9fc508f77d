// Output of `gesso webhooks`: messages go to standard error, JSON to standard output. Colours are off if standard error
// is not a terminal, and with NO_COLOR.
import { styleText } from "node:util";
import type { PostResult } from "./post-message.ts";

type Style = Parameters<typeof styleText>[0];

export const colorize = (style: Style, text: string): string => styleText(style, text, { stream: process.stderr });
export const printLine = (line: string): void => void process.stderr.write(`${line}\n`);
export const printJson = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

const clock = (at = new Date()) => at.toTimeString().slice(0, 8);
const TYPE_WIDTH = 26;
const ID_WIDTH = 40;
const MAX_RESPONSE_TEXT = 60;

/** Rendered as one line per attempt: time, event type, run and result. */
export type SentMessage = {
  type: string;
  subject: string;
  response: PostResult;
  duration_ms: number;
  followUp?: string | undefined;
};

export function formatSentLine({ type, subject, response, duration_ms, followUp }: SentMessage): string {
  const [style, result] = formatResult(response);
  const columns = [clock(), colorize("bold", type.padEnd(width(type))), subject.padEnd(ID_WIDTH)];
  const took = colorize("dim", `${duration_ms} ms`);
  const rest = [excerptOf(response), followUp].flatMap((text) => (text ? [colorize("dim", text)] : []));
  return ["", ...columns, colorize(style, result), took, ...rest].join("  ");
}

/** Types of up to 14 characters share one column width; longer ones get a wider column. */
const width = (type: string) => (type.length <= 14 ? 14 : TYPE_WIDTH);

function formatResult(response: PostResult): [Style, string] {
  if ("error" in response) return ["red", response.message];
  const { status } = response;
  return [status >= 200 && status < 300 ? "green" : status < 500 ? "yellow" : "red", String(status)];
}

/** The beginning of an error response, on one line and without control characters. */
function excerptOf(response: PostResult): string {
  if ("error" in response || response.status < 300) return "";
  const text = response.text.replace(/[\s\p{C}]+/gu, " ").trim();
  return text.length > MAX_RESPONSE_TEXT ? `${text.slice(0, MAX_RESPONSE_TEXT)}…` : text;
}

export const printNote = (text: string): void => printLine(`  ${clock()}  ${colorize("cyan", text)}`);

export const formatSeconds = (ms: number): string => `${Number((ms / 1000).toFixed(ms < 9_950 ? 1 : 0))} s`;
export const pluralize = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? "" : "s"}`;
