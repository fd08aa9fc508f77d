// How many pixels may be in hand at once in this process. A job waits for its share before it decodes anything, so that
// many large jobs together need no more memory than a few.

/** A hundred megapixels are about 400 MB. */
const mostInHand = 100_000_000;

type Waiting = { pixels: number; begin(): void };

let inHand = 0;
const waiting: Waiting[] = [];

/** A job that wants more than there is gets all of it, and is then alone. */
export const withPixels = async <Result>(asked: number, work: () => Promise<Result>): Promise<Result> => {
  const pixels = Math.min(asked, mostInHand);
  // First come, first served: a large job is not overtaken for ever by small ones.
  if (waiting.length > 0 || inHand + pixels > mostInHand) {
    await new Promise<void>((begin) => waiting.push({ pixels, begin }));
  } else inHand += pixels;
  try {
    return await work();
  } finally {
    inHand -= pixels;
    letIn();
  }
};

const letIn = () => {
  for (let next = waiting[0]; next && inHand + next.pixels <= mostInHand; next = waiting[0]) {
    waiting.shift();
    inHand += next.pixels;
    next.begin();
  }
};
