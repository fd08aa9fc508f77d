// What every figure drawing gets, and the parts that several of them share. A figure fills a box of 100 by 100 and
// stands on its lower edge.
import { mix } from "../colour.ts";

/** `ink` draws lines, `accent` is the figure's own colour, `light` its bright parts. */
export type Ink = { ink: string; accent: string; light: string };
export type FigureDrawing = (colours: Ink) => string;

export const darker = (colour: string, share = 0.25): string => mix(colour, "#10121a", share);
export const lighter = (colour: string, share = 0.4): string => mix(colour, "#ffffff", share);

/** A dark eye with a highlight. */
export const eye = (x: number, y: number, radius: number): string =>
  `<circle cx="${x}" cy="${y}" r="${radius}" fill="#1b1d26"/><circle cx="${x + radius * 0.3}" cy="${y - radius * 0.35}" r="${radius * 0.32}" fill="#ffffff"/>`;
