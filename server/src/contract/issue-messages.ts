// Messages of field errors, in the words of the API. A schema's own message takes precedence over these.
import type { z } from "zod";

const TYPE_NAMES: Record<string, string> = {
  string: "a string",
  number: "a number",
  int: "an integer",
  boolean: "true or false",
  array: "an array",
  object: "an object",
  record: "an object",
};

const FORMAT_NAMES: Record<string, string> = {
  uuid: "a UUID",
  url: "a URL",
  datetime: "a timestamp in ISO 8601, such as 2026-01-31T12:00:00Z",
  date: "a date such as 2026-01-31",
};

/** Returns undefined for issues whose default message is good enough. */
export function describeZodIssue(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return TYPE_NAMES[issue.expected] && `Must be ${TYPE_NAMES[issue.expected]}.`;
    case "invalid_value":
      return issue.values.length === 1
        ? `Must be ${String(issue.values[0])}.`
        : `Must be one of ${issue.values.map(String).join(", ")}.`;
    case "invalid_format":
      return FORMAT_NAMES[issue.format] && `Must be ${FORMAT_NAMES[issue.format]}.`;
    case "too_small":
      return describeBound(issue.origin, `${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}`);
    case "too_big":
      return describeBound(issue.origin, `${issue.inclusive === false ? "less than" : "at most"} ${issue.maximum}`);
    default:
      return undefined;
  }
}

function describeBound(origin: string, bound: string): string {
  if (origin === "array" || origin === "set") return `Must have ${bound} ${bound.endsWith(" 1") ? "item" : "items"}.`;
  if (origin === "string") return `Must have ${bound} characters.`;
  return `Must be ${bound}.`;
}
