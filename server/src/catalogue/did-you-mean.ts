// "Did you mean …?": the word that somebody most likely wanted to write, or none when nothing is near.

/** How many letters have to be changed, added, left out or swapped to get from one word to the other. */
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

/** A third of the letters may be wrong; what is further away would be a guess. */
function nearest(word: string, candidates: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(word.length / 3));
  return candidates
    .map((candidate) => ({ candidate, off: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ off }) => off <= most)
    .sort((a, b) => a.off - b.off)[0]?.candidate;
}

/** What to say about a word that is none of these. A list that is too long to help is left out. */
export function suggestName(word: string, candidates: readonly string[]): string {
  const meant = nearest(word, candidates);
  if (meant !== undefined) return `; did you mean ${meant}?`;
  return candidates.length <= 12 && candidates.length > 0 ? `; there are ${candidates.join(", ")}` : "";
}
