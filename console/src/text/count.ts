// Whole numbers with a comma between thousands. One formatter for all: creating one takes longer than its use.
const format = new Intl.NumberFormat("en");

export const formatCount = (count: number): string => format.format(count);
