// Stars, tags and deletes runs. The lists in the cache change at once and in place, so that nothing is loaded again and
// nothing moves; a refused change is undone.
import type { Run } from "@gesso/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { runQuery } from "../api/queries.ts";
import { storeRun } from "../api/store-run.ts";
import { GALLERY_KEY, type GalleryData } from "./use-gallery-runs.ts";

type MarkChange = { starred?: boolean; tag?: string };

/** Removes the run if `change` returns undefined. Pages without the run stay the same objects. */
function changePages(data: GalleryData | undefined, ids: readonly string[], change: (run: Run) => Run | undefined) {
  return (
    data?.pages && {
      ...data,
      pages: data.pages.map((page) =>
        page.runs.some(({ run_id }) => ids.includes(run_id))
          ? { ...page, runs: page.runs.flatMap((run) => (ids.includes(run.run_id) ? (change(run) ?? []) : run)) }
          : page,
      ),
    }
  );
}

const tagsWith = (tags: readonly string[] | undefined, tag: string | undefined): string[] => [
  ...new Set([...(tags ?? []), ...(tag ? [tag] : [])]),
];

export function useChangeRuns() {
  const queryClient = useQueryClient();
  const changeLists = (ids: readonly string[], change: (run: Run) => Run | undefined) =>
    queryClient.setQueriesData<GalleryData>({ queryKey: GALLERY_KEY }, (data) => changePages(data, ids, change));
  const undo = (runs: readonly Run[]) => {
    const known = new Map(runs.map((run) => [run.run_id, run]));
    changeLists([...known.keys()], ({ run_id }) => known.get(run_id));
  };

  const mark = useMutation({
    mutationFn: async ({ runs, starred, tag }: MarkChange & { runs: readonly Run[] }) => {
      const bodyOf = (run: Run) => ({
        ...(starred !== undefined && { starred }),
        ...(tag && { tags: tagsWith(run.tags, tag) }),
      });
      return Promise.all(runs.map(async (run) => client.runs.update(run.run_id, bodyOf(run))));
    },
    onMutate: ({ runs, starred, tag }) =>
      changeLists(
        runs.map(({ run_id }) => run_id),
        (run) => ({ ...run, ...(starred !== undefined && { starred }), tags: tagsWith(run.tags, tag) }),
      ),
    onSuccess: (changed) => {
      for (const run of changed) storeRun(queryClient, run);
    },
    onError: (_, { runs }) => undo(runs),
  });

  const remove = useMutation({
    mutationFn: async (runs: readonly Run[]) => {
      for (const { run_id } of runs) await client.runs.delete(run_id);
    },
    onSuccess: (_, runs) => {
      const ids = runs.map(({ run_id }) => run_id);
      changeLists(ids, () => undefined);
      for (const id of ids) queryClient.removeQueries({ queryKey: runQuery(id).queryKey });
    },
  });
  return { mark, remove };
}
