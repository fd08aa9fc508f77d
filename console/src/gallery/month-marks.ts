// The marks of the month slider: which months are named and which are ticks.
export type MonthMark = { month: string; label: string | null; year: string | null };

const MAX_NAMED_MONTHS = 15;
const MAX_TICKED_MONTHS = 40;
const QUARTERS = ["03", "06", "09"];

const shortFormat = new Intl.DateTimeFormat("en", { month: "short" });
const longFormat = new Intl.DateTimeFormat("en", { month: "long", year: "numeric" });
const middleOf = (month: string) => new Date(`${month}-15T12:00:00`);

export const longMonth = (month: string): string => longFormat.format(middleOf(month));

/**
 * `months` newest first. The newest months are named one by one, earlier ones by quarters, and many only by years. The
 * year stands in the place of its last month.
 */
export function monthMarks(months: readonly string[]): MonthMark[] {
  return months.map((month, index) => {
    const [year = "", number = ""] = month.split("-");
    const isNewYear = months[index - 1]?.startsWith(year) !== true;
    const isNamed = index < MAX_NAMED_MONTHS || (months.length <= MAX_TICKED_MONTHS && QUARTERS.includes(number));
    const hasName = index === 0 || (isNamed && !isNewYear);
    return { month, label: hasName ? shortFormat.format(middleOf(month)) : null, year: isNewYear ? year : null };
  });
}
