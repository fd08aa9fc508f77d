// Limits the decoded pixels held in memory by this process. A job waits for its share before it decodes, in order of
// arrival.
import { providerFault } from "../call-provider.ts";

/** 100 megapixels need about 400 MB. */
const MAX_PIXELS_IN_MEMORY = 100_000_000;
/** Maximum wait, within the submission timeout. After it, the job fails as busy and is retried. */
const waitSeconds = 10;

type Waiting = { pixels: number; begin(): void };

let inHand = 0;
const waiting = new Set<Waiting>();

/** A job that needs more than the budget gets all of it and runs alone. */
export const withPixelBudget = async <Result>(requested: number, work: () => Promise<Result>): Promise<Result> => {
  const pixels = Math.min(requested, MAX_PIXELS_IN_MEMORY);
  // First in, first out, so that small jobs cannot starve a large one.
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
