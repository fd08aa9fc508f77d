// Suggests the known name that is nearest to a misspelt one.

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

/** The nearest candidate; undefined if more than a third of the letters differ. */
function nearest(name: string, candidates: readonly string[]): string | undefined {
  const maxDistance = Math.max(1, Math.floor(name.length / 3));
  return candidates
    .map((candidate) => ({ candidate, off: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ off }) => off <= maxDistance)
    .sort((a, b) => a.off - b.off)[0]?.candidate;
}

/** The end of an error message about an unknown name: a suggestion, or the list of known names if it is short. */
export function suggestName(name: string, candidates: readonly string[]): string {
  const suggestion = nearest(name, candidates);
  if (suggestion !== undefined) return `; did you mean ${suggestion}?`;
  return candidates.length <= 12 && candidates.length > 0 ? `; known names are ${candidates.join(", ")}` : "";
}
