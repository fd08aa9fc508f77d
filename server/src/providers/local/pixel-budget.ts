// Limits the decoded pixels held in memory by this process. A job waits for its share before it decodes, in order of
// arrival.
import { providerFault } from "../call-provider.ts";

/** A hundred megapixels are about 400 MB. */
const MAX_PIXELS_IN_MEMORY = 100_000_000;
/** A submission has a time of its own; a job that has not begun by then is sent away to come again. */
const waitSeconds = 10;

type Waiting = { pixels: number; begin(): void };

let inHand = 0;
const waiting = new Set<Waiting>();

/** A job that wants more than there is gets all of it, and is then alone. */
export const withPixelBudget = async <Result>(asked: number, work: () => Promise<Result>): Promise<Result> => {
  const pixels = Math.min(asked, MAX_PIXELS_IN_MEMORY);
  // First come, first served: a large job is not overtaken for ever by small ones.
  if (waiting.size > 0 || inHand + pixels > MAX_PIXELS_IN_MEMORY) await turn(pixels);
  else inHand += pixels;
  try {
    return await work();
  } finally {
    inHand -= pixels;
    startWaiting();
  }
};

function turn(pixels: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const place = { pixels, begin: resolve };
  waiting.add(place);
  const timer = setTimeout(() => {
    waiting.delete(place);
    reject(
      providerFault("provider_error", {
        kind: "busy",
        retryAfterSeconds: waitSeconds,
        cause: "too many pixels in hand",
      }),
    );
    startWaiting();
  }, waitSeconds * 1000);
  return promise.finally(() => clearTimeout(timer));
}

function startWaiting(): void {
  for (const place of waiting) {
    if (inHand + place.pixels > MAX_PIXELS_IN_MEMORY) return;
    waiting.delete(place);
    inHand += place.pixels;
    place.begin();
  }
}
