// The runs that are selected in the gallery.
import type { Run } from "@gesso/client";
import { useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { downloadRuns } from "./download-runs.ts";

type Mark = (change: { runs: readonly Run[]; starred?: boolean; tag?: string }) => void;

export function useSelection(runs: readonly Run[], mark: Mark) {
  const navigate = useNavigate();
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  // Runs of the list, so that their stars and tags are those of now.
  const selected = useMemo(() => (ids.size === 0 ? [] : runs.filter(({ run_id }) => ids.has(run_id))), [runs, ids]);
  const toggle = useCallback(({ run_id }: Run) => {
    setIds((known) => {
      const next = new Set(known);
      if (!next.delete(run_id)) next.add(run_id);
      return next;
    });
  }, []);
  const clear = useCallback(() => setIds(new Set()), []);
  const star = useCallback((run: Run) => mark({ runs: [run], starred: !run.starred }), [mark]);
  const compare = () => {
    // The older run first: it is the one before the change.
    const items = selected.map(({ run_id }) => run_id).reverse();
    if (items.length === 2) void navigate({ to: "/compare", search: { items: items.join(",") } });
  };
  return {
    ...{ ids, runs: selected, toggle, clear, star, compare },
    actions: {
      onCompare: compare,
      onStar: (starred: boolean) => mark({ runs: selected, starred }),
      onTag: (tag: string) => mark({ runs: selected, tag }),
      onDownload: () => downloadRuns(selected),
      onClear: clear,
    },
  };
}
