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
import { commandError, EXIT_CODES, type ExitReason, isCommandError } from "./command-error.ts";
import { flagOf } from "./field-flags.ts";
import { toHarmlessLines, writeNote } from "./output/terminal.ts";

export { commandError, EXIT_CODES };

const EXIT_REASON_BY_ERROR: [{ isInstance(error: unknown): boolean }, ExitReason][] = [
  [AuthError, "auth"],
  [PermissionError, "auth"],
  [NotFoundError, "missing"],
  [RateLimitError, "limit"],
  [BudgetError, "limit"],
  [ValidationError, "usage"],
];

/**
 * Runs the command and reports known errors in one sentence; an unexpected error is thrown with its stack.
 * `flagOfInput` names the flag of a field of an imported model.
 */
export async function runCommand<Connection extends { url: string }>(
  name: string,
  resolve: () => Connection,
  run: (connection: Connection) => Promise<number>,
  flagOfInput: (field: string) => string = flagOf,
): Promise<number> {
  const report = (message: string) => writeNote(`${name}: ${toHarmlessLines(message)}`);
  let url = "";
  process.stdout.on("error", endWithReader);
  try {
    const connection = resolve();
    url = connection.url;
    return await run(connection);
  } catch (thrown) {
    if (isCommandError(thrown)) {
      report(thrown.message);
      return EXIT_CODES[thrown.reason];
    }
    if (!GessoError.isInstance(thrown)) throw thrown;
    // The message of the client already names the code and the request.
    const message = ValidationError.isInstance(thrown)
      ? describeInvalidFields(thrown, flagOfInput)
      : describeError(thrown);
    const isUnreachable = ConnectionError.isInstance(thrown) && thrown.status === undefined;
    report(isUnreachable ? `Cannot reach Gesso at ${url}. Check the URL and that the server is running.` : message);
    return EXIT_CODES[EXIT_REASON_BY_ERROR.find(([family]) => family.isInstance(thrown))?.[1] ?? "failed"];
  }
}

/** As in `gesso runs list | head`: the program that reads the output has ended. */
function endWithReader(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
  process.exit(EXIT_CODES.ok);
}

/** One line per invalid field, with the flag that sets it. */
function describeInvalidFields({ message, fieldErrors }: ValidationError, flagOfInput: typeof flagOf): string {
  if (fieldErrors.length === 0) return message;
  const count = fieldErrors.length === 1 ? "1 field is invalid." : `${fieldErrors.length} fields are invalid.`;
  const lines = fieldErrors.map(({ path, message: reason }) => {
    const ofModel = path.startsWith("/input/");
    const [field = "", ...rest] = path.slice(ofModel ? "/input/".length : 1).split("/");
    const flag = ofModel ? flagOfInput(field) : flagOf(field);
    const place = field === "" ? "" : `${flag}${rest.length > 0 ? ` (${rest.join("/")})` : ""}: `;
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
