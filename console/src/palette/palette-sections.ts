// The entries of the command palette, by section.
export type PaletteEntry = { id: string; label: string; hint: string; open(): void };
export type PaletteSection = { title: string; entries: readonly PaletteEntry[] };

/** Whether a text has all words of the input, in any order. */
export function containsWords(entry: string, input: string): boolean {
  const lower = entry.toLowerCase();
  return input
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}
