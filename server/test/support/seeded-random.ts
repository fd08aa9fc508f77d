// Chance that can be repeated: the same seed rolls the same numbers, so whatever a test finds can be found again.

/** Returns random integers from 0 up to, not including, the given number; 0 if there is nothing to choose from. */
export function createSeededRandom(seed: number): (max: number) => number {
  let state = seed >>> 0;
  return (max) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * Math.max(1, max));
  };
}
