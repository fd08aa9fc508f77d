// Bounds of the acceptance criteria on what a person waits for. They hold on a quiet machine, where the tests are run
// by hand. Continuous integration shares its processors with other programs: there a bound is three times as high,
// which still notices a change that makes the console slower.
const MARGIN = process.env.CI ? 3 : 1;

export const speedLimit = (milliseconds: number): number => milliseconds * MARGIN;
