// Reads the pages of the gallery. Older runs follow by the cursor of the list. Newer runs, above a month that the
// reader has jumped to, are read in whole days, so that the rows of a day never change when a page arrives.
import type { Run } from "@gesso/client";
import { client } from "../api/client.ts";
import { filtersOf, type ListSearch } from "../run-search/list-search.ts";

const FIRST_PAGE = 60;
const PAGE_SIZE = 50;
/** A window of newer runs that is empty grows by this factor. */
const WINDOW_GROWTH = 4;

export type GalleryPage = {
  runs: Run[];
  /** Continues with older runs; null at the oldest. A cursor is valid only with the filters of its list. */
  older: { cursor: string; before: number | null } | null;
  /** In milliseconds: the page begins with the newest run before this time; null for the newest of all. */
  before: number | null;
};

export type GalleryPageParam = { newerThan: number } | { cursor?: string; before: number | null };

/** The end of a month (2026-11) or day (2026-11-16) in the reader's time zone; null for anything else. */
export function endOfPeriod(at: string | undefined): number | null {
  const [, year, month, day] = /^(\d{4})-(\d{2})(?:-(\d{2}))?$/.exec(at ?? "") ?? [];
  if (!year || !month) return null;
  const end = day
    ? new Date(Number(year), Number(month) - 1, Number(day) + 1)
    : new Date(Number(year), Number(month), 1);
  return end.getTime();
}

type Filters = ReturnType<typeof filtersOf>;
const later = (one: string | undefined, other: number) => new Date(Math.max(one ? Date.parse(one) : 0, other));
const earlier = (one: string | undefined, other: number) =>
  new Date(Math.min(one ? Date.parse(one) : Number.MAX_SAFE_INTEGER, other));

const listCompleted = async (filters: Filters, limit: number, cursor?: string) =>
  client.runs.list({ ...filters, status: "completed", limit, ...(cursor && { cursor }) });

/** A page can be empty although older runs match: the server reads a limited number of runs per request. */
export async function readGalleryPage(search: ListSearch, param: GalleryPageParam): Promise<GalleryPage> {
  const filters = filtersOf(search);
  if ("newerThan" in param) return readNewerDays(filters, param.newerThan);
  const { before, cursor } = param;
  const bounded =
    before === null ? filters : { ...filters, created_before: earlier(filters.created_before, before).toISOString() };
  const { data, next_cursor } = await listCompleted(bounded, cursor ? PAGE_SIZE : FIRST_PAGE, cursor);
  return { runs: data, older: next_cursor === null ? null : { cursor: next_cursor, before }, before };
}

/** All runs of the next days that have any. */
async function readNewerDays(filters: Filters, start: number): Promise<GalleryPage> {
  for (let days = 1; ; days *= WINDOW_GROWTH) {
    const end = addDays(start, days);
    const runs = await readAll({
      ...filters,
      created_after: later(filters.created_after, start - 1).toISOString(),
      created_before: earlier(filters.created_before, end).toISOString(),
    });
    const isNewest = end > Date.now();
    if (runs.length > 0 || isNewest) return { runs, older: null, before: isNewest ? null : end };
  }
}

async function readAll(filters: Filters): Promise<Run[]> {
  const runs: Run[] = [];
  let cursor: string | undefined;
  do {
    const { data, next_cursor } = await listCompleted(filters, PAGE_SIZE, cursor);
    runs.push(...data);
    cursor = next_cursor ?? undefined;
  } while (cursor);
  return runs;
}

function addDays(time: number, days: number): number {
  const date = new Date(time);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days).getTime();
}

const DAYS_OF_LONGEST_MONTH = 31;

/** The day of the oldest run in a month (2024-11), found by halves. The list has no order from old to new. */
export async function findOldestDay(search: ListSearch, month: string): Promise<string> {
  let [first, last] = [1, DAYS_OF_LONGEST_MONTH];
  while (first < last) {
    const middle = Math.floor((first + last) / 2);
    const end = endOfPeriod(dayOf(month, middle))!;
    const { data, next_cursor } = await listCompleted(
      { ...filtersOf(search), created_before: new Date(end).toISOString() },
      1,
    );
    if (data.length > 0 || next_cursor !== null) last = middle;
    else first = middle + 1;
  }
  return dayOf(month, last);
}

const dayOf = (month: string, day: number) => `${month}-${String(day).padStart(2, "0")}`;
