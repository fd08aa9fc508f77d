// Finds tiles of the gallery in the page by their key.
export const keyOfTile = (target: EventTarget): string | undefined =>
  target instanceof Element ? target.closest<HTMLElement>("[data-tile]")?.dataset.tile : undefined;

/** False if the tile is not drawn. */
export function focusTile(scroller: HTMLElement | null, key: string): boolean {
  const link = scroller?.querySelector<HTMLElement>(`[data-tile="${CSS.escape(key)}"] a`);
  link?.focus({ preventScroll: true });
  return Boolean(link);
}
