// Puts what was seen in an image into words: a description of the length asked for, tags, and a prompt.
import type { DetectedShape, ImageSummary } from "../vision/image-summary.ts";
import type { DescriptionLanguage } from "./description-language.ts";
import { english } from "./description-languages.ts";

export type DescriptionDetail = "short" | "normal" | "long";

const listed = (items: readonly string[], and: string): string =>
  items.length < 2 ? (items[0] ?? "") : `${items.slice(0, -1).join(", ")} ${and} ${items.at(-1)}`;

const placeOf = ({ across, down }: DetectedShape, sheet: DescriptionLanguage): string =>
  [sheet.down[down], across === "middle" && down !== "middle" ? "" : sheet.across[across]].filter(Boolean).join(" ");

const shapesIn = (view: ImageSummary, most: number, sheet: DescriptionLanguage): string[] =>
  view.shapes
    .slice(0, most)
    .map((seen) => sheet.shape(sheet.shapes[seen.shape], sheet.colours[seen.colour], placeOf(seen, sheet)));

const coloursIn = (view: ImageSummary, most: number, sheet: DescriptionLanguage): string[] =>
  view.colours.slice(0, most).map(({ name }) => sheet.colours[name]);

const percent = (share: number): number => Math.round(share * 100);

export const describeImage = (view: ImageSummary, detail: DescriptionDetail, sheet: DescriptionLanguage): string => {
  const isLong = detail === "long";
  const colours = listed(coloursIn(view, detail === "short" ? 3 : 4, sheet), sheet.and);
  const opening = sheet.opening(sheet.orientation[view.orientation], colours);
  if (detail === "short") return opening;
  const shapes = shapesIn(view, isLong ? 6 : 3, sheet);
  const shares = view.colours.map(({ name, share }) => `${percent(share)} % ${sheet.colours[name]}`);
  return [
    opening,
    shapes.length ? sheet.contains(listed(shapes, sheet.and)) : "",
    sheet.light(sheet.brightness[view.brightness], sheet.contrast[view.contrast]),
    isLong && view.horizon !== undefined ? sheet.horizon(percent(view.horizon)) : "",
    isLong ? sheet.shares(listed(shares, sheet.and)) : "",
    isLong ? sheet.size(view.width, view.height) : "",
  ]
    .filter(Boolean)
    .join(" ");
};

export const tagsOf = (view: ImageSummary, sheet: DescriptionLanguage): string[] => [
  ...new Set([
    ...coloursIn(view, 5, sheet),
    ...view.shapes.map(({ shape }) => sheet.tags[shape]),
    sheet.tags[view.orientation],
    sheet.tags[view.brightness],
  ]),
];

/** Always in English, which all models read. */
export const promptOf = (view: ImageSummary): string => {
  const shapes = listed(shapesIn(view, 3, english), english.and);
  const colours = listed(coloursIn(view, 3, english), english.and);
  const light = view.brightness === "medium" ? "balanced light" : `${view.brightness} image`;
  return [shapes || "an abstract scene", `mostly ${colours}`, light, english.contrast[view.contrast]].join(", ");
};
