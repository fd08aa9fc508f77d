// Runs that the words of the command palette name: one by its ID, or several by words of their prompts.
import type { Run } from "@gesso/client";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { client } from "../api/client.ts";

const RUN_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const LIMIT = 8;
const MIN_LETTERS = 2;

async function findRuns(words: string): Promise<Run[]> {
  if (RUN_ID.test(words)) return [await client.runs.get(words)];
  const { data } = await client.runs.list({ limit: LIMIT, ...(words.length >= MIN_LETTERS && { q: words }) });
  return data;
}

export const foundRunsQuery = (words: string) =>
  queryOptions({
    queryKey: ["runs", "list", "found", words.trim()],
    queryFn: () => findRuns(words.trim()),
    placeholderData: keepPreviousData,
  });
