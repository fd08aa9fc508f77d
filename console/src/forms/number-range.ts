// How a number is edited: with a slider if it has close bounds and a default, and in which steps.
import type { FormField } from "./operation-forms.ts";

const MAX_SLIDER_RANGE = 100;

type NumberFacts = Pick<FormField, "minimum" | "maximum" | "default" | "isInteger">;

const MAX_CHOICES = 4;

/** A whole number with so few values that each can be a button. */
export const isSmallCount = ({ minimum, maximum, isInteger }: NumberFacts): boolean =>
  isInteger === true && minimum !== undefined && maximum !== undefined && maximum - minimum < MAX_CHOICES;

export const hasSlider = ({ minimum, maximum, default: preset }: NumberFacts): boolean =>
  minimum !== undefined && maximum !== undefined && preset !== undefined && maximum - minimum <= MAX_SLIDER_RANGE;

export function stepOf({ minimum = 0, maximum = Number.POSITIVE_INFINITY, isInteger }: NumberFacts): number {
  if (isInteger) return 1;
  const range = maximum - minimum;
  if (range <= 2) return 0.05;
  return range <= MAX_SLIDER_RANGE ? 0.5 : 1;
}

/** The number of a text; undefined if it is none, so that a half-typed number is no value. */
export function parseNumber(given: string): number | undefined {
  const value = given.trim() === "" ? Number.NaN : Number(given);
  return Number.isFinite(value) ? value : undefined;
}
