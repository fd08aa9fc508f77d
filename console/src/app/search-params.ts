// Search parameters of the pages. A value of the wrong kind is left out, so that an edited URL still opens its page.
import { PAINT_MODES, type PaintMode } from "../paint/paint-modes.ts";
import { type ListSearch, parseListSearch } from "../run-search/list-search.ts";

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

const pickText =
  <Name extends string>(...names: Name[]) =>
  (search: Record<string, unknown>): { [N in Name]?: string } =>
    Object.fromEntries(names.filter((name) => isText(search[name])).map((name) => [name, search[name]])) as {
      [N in Name]?: string;
    };

export const parseMakeSearch = pickText("operation", "model", "from", "seed");
const pickMonth = pickText("at");

export type GallerySearch = ListSearch & { at?: string };
/** `at`: the newest month or day of the list. */
export const parseGallerySearch = (search: Record<string, unknown>): GallerySearch => ({
  ...parseListSearch(search),
  ...pickMonth(search),
});

const pickStatus = pickText("status");
export const parseRunListSearch = (search: Record<string, unknown>): ListSearch & { status?: string } => ({
  ...parseListSearch(search),
  ...pickStatus(search),
});
export const parseCompareSearch = pickText("items");
const pickRunTexts = pickText("node");

export const RUN_TABS = ["timeline", "tree", "layers", "provenance", "inputs", "code"] as const;
export type RunTab = (typeof RUN_TABS)[number];

/** `view` shows the tree on the whole page. */
export type RunSearch = { tab?: RunTab; node?: string; view?: "graph" | "list" };

export function parseRunSearch(search: Record<string, unknown>): RunSearch {
  const tab = RUN_TABS.find((each) => each === search.tab);
  const view = search.view === "graph" || search.view === "list" ? search.view : undefined;
  return { ...pickRunTexts(search), ...(tab && { tab }), ...(view && { view }) };
}

const PEOPLE_TABS = ["members", "audit"] as const;
type PeopleTab = (typeof PEOPLE_TABS)[number];

export function parsePeopleSearch(search: Record<string, unknown>): { tab?: PeopleTab } {
  const tab = PEOPLE_TABS.find((each) => each === search.tab);
  return tab ? { tab } : {};
}

export function parsePaintSearch(search: Record<string, unknown>): { mode?: PaintMode; output?: number } {
  const mode = PAINT_MODES.find((each) => each === search.mode);
  const output = Number.isInteger(search.output) && Number(search.output) > 0 ? Number(search.output) : undefined;
  return { ...(mode && { mode }), ...(output && { output }) };
}
