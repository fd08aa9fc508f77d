// The star of a run. It changes at once and falls back if the server refuses.
import type { Run } from "@gesso/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Star } from "lucide-react";
import { client } from "../api/client.ts";
import { runQuery } from "../api/queries.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import styles from "./run-stage.module.css";

export function StarButton({ run: { run_id, starred = false } }: { run: Run }) {
  const queryClient = useQueryClient();
  const { queryKey } = runQuery(run_id);
  const show = (isStarred: boolean) =>
    queryClient.setQueryData<Run>(queryKey, (run) => run && { ...run, starred: isStarred });
  const { mutate } = useMutation({
    mutationFn: async (isStarred: boolean) => client.runs.update(run_id, { starred: isStarred }),
    onMutate: (isStarred) => show(isStarred),
    onError: (_error, isStarred) => show(!isStarred),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["runs", "list"] }),
  });
  const label = starred ? text.runPage.unstar : text.runPage.star;
  return (
    <Button kind="quiet" size="s" isIconOnly label={label} aria-pressed={starred} onClick={() => mutate(!starred)}>
      <Icon of={Star} size="s" className={starred ? styles.starred : undefined} />
    </Button>
  );
}
