// Finds the known names that are nearest to a misspelt one.

/** The Damerau-Levenshtein distance: changed, added, removed and swapped letters. */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= a.length; row++) {
    rows[row] = [row];
    for (let column = 1; column <= b.length; column++) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      const isSwapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      rows[row]![column] = Math.min(
        rows[row - 1]![column]! + 1,
        rows[row]![column - 1]! + 1,
        rows[row - 1]![column - 1]! + cost,
        isSwapped ? rows[row - 2]![column - 2]! + 1 : Number.POSITIVE_INFINITY,
      );
    }
  }
  return rows[a.length]![b.length]!;
}

/** Longer texts are no misspelt names, and comparing them takes time. */
const MAX_LENGTH = 200;

/** All names by their distance, the nearest first. */
export function rankNames(name: string, candidates: readonly string[]): { candidate: string; off: number }[] {
  if (name.length > MAX_LENGTH) return [];
  return candidates
    .map((candidate) => ({ candidate, off: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.off - b.off);
}

/** The nearest candidate; undefined if more than a third of the letters differ. */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  const [first] = rankNames(name, candidates);
  return first && first.off <= Math.max(1, Math.floor(name.length / 3)) ? first.candidate : undefined;
}
