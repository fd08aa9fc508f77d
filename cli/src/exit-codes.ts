// How a command ends: a sentence on standard error and a code that scripts can tell apart.
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

/** Also in docs/guide/webhooks.md. */
export const EXIT_CODES = { ok: 0, failed: 1, usage: 2, auth: 3, missing: 4, limit: 5, interrupted: 130 } as const;
type ExitReason = keyof typeof EXIT_CODES;

const COMMAND_ERROR_NAME = "Refused";

export const commandError = (ending: ExitReason, sentence: string): Error =>
  Object.assign(new Error(sentence), { name: COMMAND_ERROR_NAME, ending });

const EXIT_REASON_BY_ERROR: [{ isInstance(error: unknown): boolean }, ExitReason][] = [
  [AuthError, "auth"],
  [PermissionError, "auth"],
  [NotFoundError, "missing"],
  [RateLimitError, "limit"],
  [BudgetError, "limit"],
  [ValidationError, "usage"],
];

/** Runs the command, and says in a sentence what went wrong; whatever is not foreseen is shown whole. */
export async function runCommand<Place extends { url: string }>(
  name: string,
  find: () => Place,
  work: (place: Place) => Promise<number>,
): Promise<number> {
  const say = (sentence: string) => process.stderr.write(`${name}: ${sentence}\n`);
  let url = "";
  try {
    const place = find();
    url = place.url;
    return await work(place);
  } catch (thrown) {
    if (thrown instanceof Error && thrown.name === COMMAND_ERROR_NAME) {
      say(thrown.message);
      return EXIT_CODES[(thrown as Error & { ending: ExitReason }).ending];
    }
    if (!GessoError.isInstance(thrown)) throw thrown;
    say(
      ConnectionError.isInstance(thrown)
        ? `Cannot reach Gesso at ${url}. Check that the server is running.`
        : describeError(thrown),
    );
    return EXIT_CODES[EXIT_REASON_BY_ERROR.find(([family]) => family.isInstance(thrown))?.[1] ?? "failed"];
  }
}

function describeError(error: GessoError): string {
  const fields = ValidationError.isInstance(error)
    ? error.fieldErrors.map(({ path, message }) => `${path.slice(1)}: ${message}`)
    : [];
  const support = error.requestId ? [`(${error.code}, request ${error.requestId})`] : [];
  return [error.message, ...fields, ...support].join(" ");
}
