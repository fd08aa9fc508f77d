// The random decisions of one simulated schedule, read from a list of numbers, so that a schedule can be repeated and
// shrunk. When the list is used up, every decision is the harmless one: no crash, no fault, and the provider finishes
// its jobs.

export type Decisions = {
  /** True in one of `oneIn` cases. */
  happens(oneIn: number): boolean;
  /** One of the options. The first one is the harmless option. */
  pick<T>(options: readonly T[]): T;
};

export function createDecisions(numbers: readonly number[]): Decisions {
  let next = 0;
  const read = (range: number) => (next < numbers.length ? numbers[next++]! % range : 0);
  return {
    happens: (oneIn) => read(oneIn) === oneIn - 1,
    pick: (options) => options[read(options.length)]!,
  };
}

/** Thrown when a schedule breaks an invariant; `invariant` names it. */
export class InvariantViolation extends Error {
  readonly invariant: string;
  constructor(invariant: string, found: string) {
    super(`${invariant}: ${found}`);
    this.invariant = invariant;
  }
}
