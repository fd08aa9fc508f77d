// The search of a list of runs: what stands in the URL, what a reader types, and the filters of the API. Pure.
const TEXT_FILTERS = ["model", "provider", "tag", "user", "key", "error", "type", "after", "before"] as const;
export type TextFilter = (typeof TEXT_FILTERS)[number];

export type ListSearch = { [Name in TextFilter | "q"]?: string } & { starred?: true; roots?: true };

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const isDate = (value: string): boolean => DATE.test(value) && !Number.isNaN(Date.parse(value));
const isDateFilter = (name: string): boolean => name === "after" || name === "before";
const isValid = (name: string, value: unknown): value is string =>
  typeof value === "string" && value !== "" && (!isDateFilter(name) || isDate(value));

/** From the URL. A value of the wrong kind is left out. */
export function parseListSearch(search: Record<string, unknown>): ListSearch {
  const texts = ["q", ...TEXT_FILTERS].filter((name) => isValid(name, search[name]));
  return {
    ...Object.fromEntries(texts.map((name) => [name, search[name]])),
    ...(search.starred === true && { starred: true }),
    ...(search.roots === true && { roots: true }),
  };
}

export type SearchToken = { name: TextFilter | "roots"; value: string };

/** The filters that stand as tokens before the words. The star has a button of its own. */
export const tokensOf = (search: ListSearch): SearchToken[] => [
  ...TEXT_FILTERS.flatMap((name) => (search[name] === undefined ? [] : [{ name, value: search[name] }])),
  ...(search.roots ? [{ name: "roots" as const, value: "" }] : []),
];

const WORD = /(?:(\w+):)?(?:"([^"]*)"|(\S+))/g;

/** Takes filters such as `model:flux-dev` out of typed words and adds them to the search. `q` becomes the rest. */
export function addTyped(search: ListSearch, typed: string): ListSearch {
  const words: string[] = [];
  const found: Record<string, unknown> = {};
  for (const [whole, name = "", quoted, plain = ""] of typed.matchAll(WORD)) {
    const value = quoted ?? plain;
    const isFilter = TEXT_FILTERS.some((each) => each === name) && isValid(name, value);
    if (isFilter) found[name] = value;
    else if (whole === "is:starred") found.starred = true;
    else if (whole === "is:root") found.roots = true;
    else words.push(whole);
  }
  const { q: _before, ...rest } = search;
  return { ...rest, ...parseListSearch(found), ...(words.length > 0 && { q: words.join(" ") }) };
}

export function withoutToken(search: ListSearch, name: SearchToken["name"]): ListSearch {
  const { [name]: _removed, ...rest } = search;
  return rest;
}

/** The start of a day in the reader's time zone, in milliseconds. */
const dayStart = (date: string): number => new Date(`${date}T00:00:00`).getTime();

/** The filters of `runs.list`. `after` and `before` name days: the first in the list, and the first after it. */
export function filtersOf({ q, after, before, ...search }: ListSearch) {
  return {
    ...(q && { q }),
    ...(search.model && { model: search.model }),
    ...(search.provider && { provider: search.provider }),
    ...(search.tag && { tag: search.tag }),
    ...(search.user && { user_id: search.user }),
    ...(search.key && { key_id: search.key }),
    ...(search.error && { error_code: search.error }),
    ...(search.type && { run_type: search.type }),
    ...(search.starred && { starred: true }),
    ...(search.roots && { roots: true }),
    ...(after && { created_after: new Date(dayStart(after) - 1).toISOString() }),
    ...(before && { created_before: new Date(dayStart(before)).toISOString() }),
  };
}

/** A histogram has at most one filter. Without a fitting one it counts all completed runs. */
export function histogramFilterOf(search: ListSearch) {
  const { model, provider, user_id, key_id, run_type } = filtersOf(search);
  const fitting = [{ model }, { provider }, { user_id }, { key_id }, { run_type }].filter(
    (filter) => Object.values(filter)[0] !== undefined,
  );
  return fitting.length === 1 ? fitting[0]! : { status: "completed" as const };
}

export const isSearching = (search: ListSearch): boolean => Object.keys(search).length > 0;
