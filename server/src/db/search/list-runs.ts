// Lists runs of a tenant, newest first. Every request reads a bounded number of rows whatever its filters are: it scans
// a window of the newest rows, then searches the index of terms. If the bound is reached, the page is short and says
// where the next one continues.
import type { Database } from "../connect.ts";
import { IS_OF_END_USER, type RunRow, runColumns } from "../runs/runs.ts";
import { statement, statementVariants } from "../statement.ts";
import { marksOfFilter, splitIntoWords, type TermFilter, termsOfFilter, wordsOfFilter } from "./search-terms.ts";

type RunListFilter = TermFilter & {
  before?: string | undefined;
  parent_run_id?: string | undefined;
  end_user?: string | undefined;
  customer?: string | undefined;
  created_after?: string | undefined;
  created_before?: string | undefined;
};

/** `nextBefore`: older runs may match, below this id; null if there are none. */
type RunListPage = { rows: RunRow[]; nextBefore: string | null };

/** Rows that one statement scans. Runs of the last seconds, which are not indexed yet, are among the newest ones. */
const WINDOW_ROWS = 1000;
/** Windows of one request, for filters that the index does not help with. */
const MAX_WINDOWS = 4;
/** Entries of the rarest term that one search reads from the index, about. */
const MAX_INDEX_ENTRIES = 10_000;
/** Runs with a star or a tag that one search looks up in the index. */
const MAX_MARKED_RUNS = 500;
/** Searches of one request. Another one follows if the runs of the one before do not match all filters. */
const MAX_SEARCHES = 3;
/** Runs that one search returns at least, if there are so many, before they are compared with the filters. */
const MIN_FOUND_RUNS = 20;

/** A run gets its id up to an hour before it is accepted. */
const ID_LEAD_MS = 60 * 60 * 1000;
/** The clock of the API, which makes ids, may be ahead of the clock of PostgreSQL. */
const CLOCK_DIFFERENCE_MS = 5 * 60 * 1000;

const HIGHEST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";
const LOWEST_ID = "00000000-0000-0000-0000-000000000000";

/** Tables through which runs are read. `index` alone says where a window ends. */
type RunSource = { index: string; join?: string; condition?: string; hasTerms: boolean };
const SOURCES = {
  runs: { index: "runs", hasTerms: true },
  children: { index: "runs", condition: "and runs.parent_run_id = :parent_run_id?", hasTerms: false },
  end_user: { index: "runs", condition: "and runs.end_user = :end_user", hasTerms: false },
  customer: { index: "runs", condition: "and runs.customer = :customer", hasTerms: false },
  open_runs: {
    ...{ index: "open_runs", hasTerms: false },
    join: "join runs on runs.run_id = open_runs.run_id and runs.tenant_id = open_runs.tenant_id",
  },
  unsuccessful_runs: {
    ...{ index: "unsuccessful_runs", condition: "and unsuccessful_runs.status = :status?", hasTerms: true },
    join: "join runs on runs.run_id = unsuccessful_runs.run_id and runs.tenant_id = unsuccessful_runs.tenant_id",
  },
} satisfies Record<string, RunSource>;
type SourceName = keyof typeof SOURCES;

const STATUS_SOURCES: Record<string, SourceName> = {
  queued: "open_runs",
  processing: "open_runs",
  failed: "unsuccessful_runs",
  canceled: "unsuccessful_runs",
};

/** The runs of an end user or a customer are few: an index of their own has them, whatever the other filters are. */
function selectSource({ status, parent_run_id, end_user, customer }: RunListFilter): SourceName {
  if (end_user !== undefined) return "end_user";
  if (customer !== undefined) return "customer";
  return STATUS_SOURCES[status ?? ""] ?? (parent_run_id === undefined ? "runs" : "children");
}

/** Times are compared in milliseconds, the precision of the API. */
const CONDITIONS = `deleted_at is null
     and (:status?::text is null or status = :status?)
     and (:run_type?::text is null or run_type = :run_type?)
     and (:parent_run_id?::uuid is null or parent_run_id = :parent_run_id?)
     and (:model?::text is null or model = :model?)
     and (:provider?::text is null or provider = :provider?)
     and (:key_id?::uuid is null or key_id = :key_id?)
     and (:user_id?::text is null or user_id = :user_id?)
     and ${IS_OF_END_USER.replaceAll("runs.", "")}
     and (:customer?::text is null or customer = :customer?)
     and (:error_code?::text is null or error ->> 'code' = :error_code?)
     and (:roots?::boolean is not true or parent_run_id is null)
     and (:created_after?::timestamptz is null or date_trunc('milliseconds', created_at) > :created_after?)
     and (:created_before?::timestamptz is null or date_trunc('milliseconds', created_at) < :created_before?)`;

const sourceEntries = Object.entries(SOURCES as Record<string, RunSource>);

const windowSql = ({ index, condition = "" }: RunSource) =>
  `${index}.tenant_id = :tenant_id ${condition} and ${index}.run_id < :before and ${index}.run_id >= :lowest
       order by ${index}.run_id desc`;

const LIST_WINDOW = statementVariants(
  "runs.list",
  Object.fromEntries(
    sourceEntries.map(([name, source]) => [
      name,
      `select ${runColumns("candidates")} from (
       select ${runColumns()}, runs.key_id from ${source.index} ${source.join ?? ""}
       where ${windowSql(source)} limit :window
     ) as candidates
     where ${CONDITIONS}
     and (:words?::text[] is null or run_has_all_terms(:tenant_id, :words?, :marks?::text[], run_id))
     order by run_id desc limit :limit`,
    ]),
  ),
);

/** The lowest id of the window; no row if the window is the last one. */
const FIND_WINDOW_END = statementVariants(
  "runs.find_window_end",
  Object.fromEntries(
    sourceEntries.map(([name, source]) => [
      name,
      `select ${source.index}.run_id from ${source.index}
       where ${windowSql(source)} offset :window::int - 1 limit 1`,
    ]),
  ),
);

const SEARCH = statement(
  "runs.search",
  `select run_ids, next_before
   from search_runs(:tenant_id, :terms::text[], :before, :lowest, :limit, :max_entries)`,
).columns<{ run_ids: string[] }>();

const SEARCH_MARKED = statement(
  "runs.search_marked",
  `select run_ids, next_before
   from search_marked_runs(:tenant_id, :terms::text[], :marks::text[], :before, :lowest, :limit, :max_lookups)`,
).columns<{ run_ids: string[] }>();

const LIST_FOUND = statement(
  "runs.list_found",
  `select ${runColumns()} from runs
   where run_id = any(:run_ids::uuid[]) and tenant_id = :tenant_id and ${CONDITIONS} order by run_id desc`,
);

/** One request: the range of ids that is left, and what has been found. */
type RunSearch = {
  db: Database;
  tenantId: string;
  filter: RunListFilter;
  limit: number;
  before: string;
  lowest: string;
  rows: RunRow[];
};

/** Keyset pagination: the cost of a page does not grow with its distance from the first. */
export async function listRunRows(
  db: Database,
  tenantId: string,
  filter: RunListFilter,
  limit: number,
): Promise<RunListPage> {
  const { endUser } = db;
  if (endUser !== undefined && (filter.end_user ?? endUser) !== endUser) return { rows: [], nextBefore: null };
  const ownFilter = { ...filter, end_user: filter.end_user ?? endUser };
  return listOwnRunRows(db, tenantId, ownFilter, limit);
}

async function listOwnRunRows(
  db: Database,
  tenantId: string,
  filter: RunListFilter,
  limit: number,
): Promise<RunListPage> {
  if (filter.q !== undefined && splitIntoWords(filter.q).length === 0) return { rows: [], nextBefore: null };
  const search: RunSearch = { db, tenantId, filter, limit, ...idRange(filter), rows: [] };
  const source = selectSource(filter);
  const hasIndex = SOURCES[source].hasTerms && termsOfFilter(filter).length + marksOfFilter(filter).length > 0;
  // A window cannot find words, stars and tags faster than the index, which alone has them.
  if (hasIndex && wordsOfFilter(filter).length + marksOfFilter(filter).length > 0)
    return { nextBefore: await searchIndex(search), rows: search.rows };
  const nextBefore = await scanWindows(search, source, hasIndex ? 1 : MAX_WINDOWS);
  if (!hasIndex || nextBefore === null || search.rows.length >= limit) return { rows: search.rows, nextBefore };
  return { nextBefore: await searchIndex({ ...search, before: nextBefore }), rows: search.rows };
}

/** Adds the matching rows of the next windows. Returns where to continue; null at the end. */
async function scanWindows(search: RunSearch, source: SourceName, maxWindows: number): Promise<string | null> {
  const { db, limit, lowest, rows } = search;
  const [words, marks] = [wordsOfFilter(search.filter), marksOfFilter(search.filter)];
  const isIndexed = words.length + marks.length > 0;
  const indexed = { words: isIndexed ? words : undefined, marks: isIndexed ? marks : undefined };
  let { before } = search;
  for (let count = 0; count < maxWindows; count++) {
    const range = { before, lowest, window: WINDOW_ROWS };
    const parameters = { ...filterParameters(search), ...range, ...indexed, limit: limit - rows.length };
    rows.push(...(await db.execute(LIST_WINDOW.get(source)!, parameters)));
    if (rows.length >= limit) return rows.at(-1)!.run_id;
    const { tenant_id, parent_run_id, status, end_user, customer } = parameters;
    const [end] = await db.execute(FIND_WINDOW_END.get(source)!, {
      ...{ tenant_id, parent_run_id, status, end_user, customer, ...range },
    });
    if (!end) return null;
    before = end.run_id;
  }
  return before;
}

/** Adds the matching runs of the index. Returns where to continue; null at the end. */
async function searchIndex(search: RunSearch): Promise<string | null> {
  const { db, limit, rows } = search;
  let { before } = search;
  for (let count = 0; count < MAX_SEARCHES; count++) {
    const missing = Math.max(MIN_FOUND_RUNS, limit - rows.length);
    const { run_ids, next_before } = await searchOnce(search, before, missing);
    if (run_ids.length > 0) {
      const matching = await db.execute(LIST_FOUND, { ...filterParameters(search), run_ids });
      rows.push(...matching.slice(0, limit - rows.length));
      if (rows.length >= limit) return rows.at(-1)!.run_id;
    }
    if (next_before === null || run_ids.length < missing) return next_before;
    before = next_before;
  }
  return before;
}

async function searchOnce({ db, tenantId: tenant_id, filter, lowest }: RunSearch, before: string, limit: number) {
  const [terms, marks] = [termsOfFilter(filter), marksOfFilter(filter)];
  const range = { tenant_id, terms, before, lowest, limit };
  const [found] =
    marks.length > 0
      ? await db.execute(SEARCH_MARKED, { ...range, marks, max_lookups: MAX_MARKED_RUNS })
      : await db.execute(SEARCH, { ...range, max_entries: MAX_INDEX_ENTRIES });
  return found!;
}

function filterParameters({ tenantId, filter }: RunSearch) {
  const { status, run_type, parent_run_id, model, provider, key_id, user_id, end_user, error_code, roots } = filter;
  const { customer, created_after, created_before } = filter;
  const fields = { status, run_type, parent_run_id, model, provider, key_id, user_id, end_user, error_code, roots };
  return { tenant_id: tenantId, ...fields, customer, created_after, created_before };
}

function idRange({ before = HIGHEST_ID, created_after, created_before }: RunListFilter) {
  const highest =
    created_before === undefined ? HIGHEST_ID : lowestIdAt(Date.parse(created_before) + CLOCK_DIFFERENCE_MS);
  return {
    before: before < highest ? before : highest,
    lowest: created_after === undefined ? LOWEST_ID : lowestIdAt(Date.parse(created_after) - ID_LEAD_MS),
  };
}

/** The lowest UUIDv7 of a time. */
function lowestIdAt(ms: number): string {
  const hex = Math.max(0, Math.trunc(ms)).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
