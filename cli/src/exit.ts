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
export const EXIT = { ok: 0, failed: 1, usage: 2, auth: 3, missing: 4, limit: 5, interrupted: 130 } as const;
type Ending = keyof typeof EXIT;

const NAME = "Refused";

export const refused = (ending: Ending, sentence: string): Error =>
  Object.assign(new Error(sentence), { name: NAME, ending });

const FAMILIES: [{ isInstance(error: unknown): boolean }, Ending][] = [
  [AuthError, "auth"],
  [PermissionError, "auth"],
  [NotFoundError, "missing"],
  [RateLimitError, "limit"],
  [BudgetError, "limit"],
  [ValidationError, "usage"],
];

/** Runs the command, and says in a sentence what went wrong; whatever is not foreseen is shown whole. */
export async function ending<Place extends { url: string }>(
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
    if (thrown instanceof Error && thrown.name === NAME) {
      say(thrown.message);
      return EXIT[(thrown as Error & { ending: Ending }).ending];
    }
    if (!GessoError.isInstance(thrown)) throw thrown;
    say(ConnectionError.isInstance(thrown) ? `Gesso does not answer at ${url}. Is it running?` : sentenceOf(thrown));
    return EXIT[FAMILIES.find(([family]) => family.isInstance(thrown))?.[1] ?? "failed"];
  }
}

function sentenceOf(error: GessoError): string {
  const fields = ValidationError.isInstance(error)
    ? error.fieldErrors.map(({ path, message }) => `${path.slice(1)}: ${message}`)
    : [];
  const support = error.requestId ? [`(${error.code}, request ${error.requestId})`] : [];
  return [error.message, ...fields, ...support].join(" ");
}
