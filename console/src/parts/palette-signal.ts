// Asks the page to open the command palette. The palette is loaded when it is first opened.
export const PALETTE_EVENT = "gesso.palette";

export const openPalette = (): void => {
  dispatchEvent(new Event(PALETTE_EVENT));
};
