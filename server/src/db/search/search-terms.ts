// The terms by which runs are found: words of the prompt, and values of fields. The same functions build the terms of a
// run and those of a filter, so both always agree.
import type { RunRow } from "../runs/runs.ts";

/** Different words of one prompt that can be searched; the others are left out. */
const MAX_SEARCH_WORDS = 64;
/** Longer words are cut, in the index and in the search. */
const MAX_WORD_LENGTH = 40;
/** The same for values of fields: PostgreSQL refuses index entries above 2.7 kB. Lists also compare the whole value. */
const MAX_VALUE_LENGTH = 200;

/** One locale for all texts, so that a text always has the same words. Also finds words in scripts without spaces. */
const segmenter = new Intl.Segmenter("en", { granularity: "word" });

/** The different words of a text, without regard to case and width. */
export function splitIntoWords(text: string): string[] {
  const words = new Set<string>();
  for (const { segment, isWordLike } of segmenter.segment(text.normalize("NFKC").toLowerCase())) {
    if (isWordLike) words.add(segment.slice(0, MAX_WORD_LENGTH).toWellFormed());
    if (words.size === MAX_SEARCH_WORDS) break;
  }
  return [...words];
}

/** Fields whose value is a term. `status` is a term once the run has ended. */
const FIELD_TERMS = {
  status: "status",
  run_type: "type",
  model: "model",
  provider: "provider",
  key_id: "key",
  user_id: "user",
  error_code: "error",
} as const;
type TermField = keyof typeof FIELD_TERMS;

const ROOT_TERM = "root";
const STARRED_TERM = "starred";
/** Counts all runs of a tenant. No run has it as a term. */
const ANY_RUN = "";

const fieldTerms = (values: { [Field in TermField]?: string | null | undefined }): string[] =>
  (Object.keys(FIELD_TERMS) as TermField[])
    .filter((field) => values[field] !== undefined && values[field] !== null)
    .map((field) => `${FIELD_TERMS[field]}:${values[field]!.slice(0, MAX_VALUE_LENGTH).toWellFormed()}`);

const wordTerms = (text: string): string[] => splitIntoWords(text).map((word) => `word:${word}`);

export type IndexedFields = Pick<RunRow, "user_id" | "run_type" | "parent_run_id" | "model" | "provider" | "status"> & {
  key_id: string | null;
  error_code: string | null;
  prompt: string | null;
};

export const isOpenStatus = (status: string): boolean => status === "queued" || status === "processing";

/** The provider can change until the run has ended, and so can the status: both are terms only then. */
export function termsOfRun({ status, provider, prompt, parent_run_id, ...fields }: IndexedFields): string[] {
  return [
    ...fieldTerms({ ...fields, ...(!isOpenStatus(status) && { status, provider }) }),
    ...(parent_run_id === null ? [ROOT_TERM] : []),
    ...wordTerms(prompt ?? ""),
  ];
}

/** The filters of a list that are terms. */
export type TermFilter = { [Field in TermField]?: string | undefined } & {
  q?: string | undefined;
  tag?: string | undefined;
  roots?: boolean | undefined;
  starred?: boolean | undefined;
};

/** Stars and tags of a filter. They change at any time, so their runs are listed apart from the other terms. */
export const marksOfFilter = ({ tag, starred }: TermFilter): string[] => [
  ...(tag === undefined ? [] : [`tag:${tag}`]),
  ...(starred ? [STARRED_TERM] : []),
];

/** Words that only the index knows: a row of `runs` cannot be compared with them. */
export const wordsOfFilter = ({ q }: TermFilter): string[] => (q === undefined ? [] : wordTerms(q));

export const termsOfFilter = (filter: TermFilter): string[] => [
  ...wordsOfFilter(filter),
  ...(filter.roots ? [ROOT_TERM] : []),
  ...fieldTerms(filter),
];

/** The term whose runs are counted for a filter of at most one field. */
export const countedTerm = ({ roots, ...fields }: Omit<TermFilter, "q" | "tag" | "starred">): string =>
  fieldTerms(fields)[0] ?? (roots ? ROOT_TERM : ANY_RUN);
