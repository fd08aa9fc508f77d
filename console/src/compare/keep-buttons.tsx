// The decision after a comparison: the run to keep gets a star.
import type { Run } from "@gesso/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Star } from "lucide-react";
import { client } from "../api/client.ts";
import { runQuery } from "../api/queries.ts";
import { Button } from "../parts/button.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Icon } from "../parts/icon.tsx";
import { useShortcuts } from "../parts/use-shortcuts.ts";
import { text } from "../text/text.ts";
import styles from "./compare-page.module.css";

const words = text.compare;

export function KeepButtons({ first, second }: { first: Run; second: Run }) {
  const queryClient = useQueryClient();
  const { mutate, error } = useMutation({
    mutationFn: async ({ run_id, starred = false }: Run) => client.runs.update(run_id, { starred: !starred }),
    onSuccess: (_run, { run_id }) => queryClient.invalidateQueries({ queryKey: runQuery(run_id).queryKey }),
  });
  useShortcuts({ "1": () => mutate(first), "2": () => mutate(second) });
  const entries = [
    { run: first, name: "A", key: "1" },
    { run: second, name: "B", key: "2" },
  ];
  return (
    <div className={styles.keep}>
      <p>{words.keepQuestion}</p>
      {error && <ErrorNotice error={error} />}
      {entries.map(({ run, name, key }) => (
        <Button
          key={name}
          kind={name === "B" ? "primary" : "plain"}
          aria-pressed={run.starred ?? false}
          aria-keyshortcuts={key}
          onClick={() => mutate(run)}
        >
          {run.starred && <Icon of={Star} size="s" />}
          {run.starred ? words.kept(name) : words.keep(name)}
          <kbd className={styles.key}>{key}</kbd>
        </Button>
      ))}
    </div>
  );
}
