// What a campaign has found, and the words it is told in.
export type Finding = { promise: string; holds: boolean; saw: string };
export type Report = { name: string; findings: Finding[]; notes: string[] };
export type Say = (line: string) => void;

/** Holds where nothing is wrong; tells the first few things that are. */
export const none = (promise: string, wrong: string[], looked: number): Finding => ({
  promise,
  holds: wrong.length === 0 && looked > 0,
  saw: wrong.length === 0 ? `${looked} looked at` : `${wrong.length} of ${looked}: ${wrong.slice(0, 3).join(", ")}`,
});

export const atLeast = (promise: string, wanted: number, seen: number): Finding => ({
  promise,
  holds: seen >= wanted,
  saw: `${seen}, at least ${wanted}`,
});

export const percentile = (values: number[], share: number): number =>
  values.sort((one, two) => one - two)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
