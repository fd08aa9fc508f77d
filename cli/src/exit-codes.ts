// Runs a command and maps errors to a message on standard error and an exit code for scripts.
import {
  AuthError,
  BudgetError,
  ConnectionError,
  GessoError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ValidationError,
} from "@gesso/client";
import { flagOf } from "./field-flags.ts";
import { toHarmlessLines, writeNote } from "./output/terminal.ts";

/** Also in cli/README.md. `timeout`: the command no longer waits, and the run goes on. */
export const EXIT_CODES = {
  ...{ ok: 0, failed: 1, usage: 2, auth: 3, missing: 4, limit: 5 },
  ...{ timeout: 124, interrupted: 130 },
} as const;
type ExitReason = keyof typeof EXIT_CODES;

const COMMAND_ERROR_NAME = "CommandError";

export const commandError = (reason: ExitReason, message: string): Error =>
  Object.assign(new Error(message), { name: COMMAND_ERROR_NAME, reason });

const EXIT_REASON_BY_ERROR: [{ isInstance(error: unknown): boolean }, ExitReason][] = [
  [AuthError, "auth"],
  [PermissionError, "auth"],
  [NotFoundError, "missing"],
  [RateLimitError, "limit"],
  [BudgetError, "limit"],
  [ValidationError, "usage"],
];

/** Runs the command and reports known errors in one sentence; an unexpected error is thrown with its stack. */
export async function runCommand<Connection extends { url: string }>(
  name: string,
  resolve: () => Connection,
  run: (connection: Connection) => Promise<number>,
): Promise<number> {
  const report = (message: string) => writeNote(`${name}: ${toHarmlessLines(message)}`);
  let url = "";
  try {
    const connection = resolve();
    url = connection.url;
    return await run(connection);
  } catch (thrown) {
    if (thrown instanceof Error && thrown.name === COMMAND_ERROR_NAME) {
      report(thrown.message);
      return EXIT_CODES[(thrown as Error & { reason: ExitReason }).reason];
    }
    if (!GessoError.isInstance(thrown)) throw thrown;
    // The message of the client already names the code and the request.
    const message = ValidationError.isInstance(thrown) ? describeInvalidFields(thrown) : describeError(thrown);
    const isUnreachable = ConnectionError.isInstance(thrown) && thrown.status === undefined;
    report(isUnreachable ? `Cannot reach Gesso at ${url}. Check the URL and that the server is running.` : message);
    return EXIT_CODES[EXIT_REASON_BY_ERROR.find(([family]) => family.isInstance(thrown))?.[1] ?? "failed"];
  }
}

/** One line per invalid field, with the flag that sets it. */
function describeInvalidFields({ message, fieldErrors }: ValidationError): string {
  if (fieldErrors.length === 0) return message;
  const count = fieldErrors.length === 1 ? "1 field is invalid." : `${fieldErrors.length} fields are invalid.`;
  const lines = fieldErrors.map(({ path, message: reason }) => {
    const [field = "", ...rest] = path
      .replace(/^\/input(?=\/)/, "")
      .slice(1)
      .split("/");
    const place = field === "" ? "" : `${flagOf(field)}${rest.length > 0 ? ` (${rest.join("/")})` : ""}: `;
    return `  ${place}${reason}`;
  });
  return [count, ...lines].join("\n");
}

/** Facts that the message or the exit code does not tell: the limit that was exceeded, for example. */
function describeError({ message, details }: GessoError): string {
  const facts = Object.entries(details).filter(
    ([name, value]) => !/^(request_id|run_id|errors)$/.test(name) && value !== null,
  );
  const lines = facts.map(([name, value]) => `  ${name}: ${typeof value === "object" ? JSON.stringify(value) : value}`);
  return [message, ...lines].join("\n");
}
