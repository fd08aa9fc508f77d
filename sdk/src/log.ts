// Logging. Keys, tokens, signing secrets and images are redacted before anything is logged.
const NAMES = ["error", "warn", "info", "debug"] as const;

/** Log level, from silent to verbose. */
export type LogLevel = "off" | (typeof NAMES)[number];

/** Implemented by `console`, pino and most other loggers. */
export type Logger = Record<(typeof NAMES)[number], (message: string, ...more: unknown[]) => void>;

export function createLevelLogger(logger: Logger, level: LogLevel): Logger {
  const most = NAMES.indexOf(level as keyof Logger);
  const own = NAMES.map((name, index): [keyof Logger, Logger["error"]] => [
    name,
    (message, ...more) => {
      if (index <= most) logger[name](message, ...more);
    },
  ]);
  return Object.fromEntries(own) as Logger;
}

const SECRET = /secret|token|password|authorization|api_?key/i;
const MAX_TEXT_LENGTH = 200;

/** The value without secrets and long texts. */
export function redact(value: unknown, name = ""): unknown {
  if (SECRET.test(name)) return "[hidden]";
  if (typeof value === "string") return truncateText(value);
  if (Array.isArray(value)) return value.map((each) => redact(each));
  if (typeof value !== "object" || value === null) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return `[${value.constructor?.name ?? "object"}]`;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, redact(each, key)]));
}

function truncateText(text: string): string {
  if (/^data:/.test(text) || (text.length > MAX_TEXT_LENGTH && /^[\w+/=\s-]+$/.test(text)))
    return `[${text.length} characters]`;
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text;
}

/** The URL without signatures, tokens and keys. */
export const redactUrl = (url: string): string =>
  url.replace(/([?&][^=&?]*)=[^&]*/g, (parameter, name: string) =>
    /sig|token|key/i.test(name) ? `${name}=[hidden]` : parameter,
  );
