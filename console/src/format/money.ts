// Amounts in US dollars. Small prices keep as many digits as they have, at least two and at most six, so that the sum
// of what is shown is what is charged.
const format = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: "USD",
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
});

export const formatMoney = (amount: number): string => format.format(amount);

/** Adds amounts in millionths, because sums of decimal fractions are inexact. */
export const addMoney = (amounts: readonly number[]): number =>
  amounts.reduce((sum, amount) => sum + Math.round(amount * 1e6), 0) / 1e6;
