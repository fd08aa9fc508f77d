// How many pixels may be in hand at once in this process. A job waits for its share before it decodes anything, so that
// many large jobs together need no more memory than a few.
import { failure } from "../http.ts";

/** A hundred megapixels are about 400 MB. */
const mostInHand = 100_000_000;
/** A submission has a time of its own; a job that has not begun by then is sent away to come again. */
const waitSeconds = 10;

type Waiting = { pixels: number; begin(): void };

let inHand = 0;
const waiting = new Set<Waiting>();

/** A job that wants more than there is gets all of it, and is then alone. */
export const withPixels = async <Result>(asked: number, work: () => Promise<Result>): Promise<Result> => {
  const pixels = Math.min(asked, mostInHand);
  // First come, first served: a large job is not overtaken for ever by small ones.
  if (waiting.size > 0 || inHand + pixels > mostInHand) await turn(pixels);
  else inHand += pixels;
  try {
    return await work();
  } finally {
    inHand -= pixels;
    letIn();
  }
};

function turn(pixels: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const place = { pixels, begin: resolve };
  waiting.add(place);
  const timer = setTimeout(() => {
    waiting.delete(place);
    reject(
      failure("provider_error", { kind: "busy", retryAfterSeconds: waitSeconds, cause: "too many pixels in hand" }),
    );
    letIn();
  }, waitSeconds * 1000);
  return promise.finally(() => clearTimeout(timer));
}

function letIn(): void {
  for (const place of waiting) {
    if (inHand + place.pixels > mostInHand) return;
    waiting.delete(place);
    inHand += place.pixels;
    place.begin();
  }
}
