// What can be done with a result: star it, paint on it, download it, and what the menu has.
import type { Run } from "@gesso/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Brush, Download, Star } from "lucide-react";
import { client } from "../api/client.ts";
import { storeRun } from "../api/store-run.ts";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import styles from "./result-tile.module.css";
import { TileMenu } from "./tile-menu.tsx";

export function TileActions({ run, index }: { run: Run; index: number }) {
  const output = run.outputs.filter(({ role }) => role === "result")[index];
  const isImage = output?.media_type.startsWith("image/") ?? false;
  return (
    <>
      {index === 0 && <StarButton run={run} />}
      <div className={styles.actions}>
        {isImage && (
          <Link
            to="/paint/$runId"
            params={{ runId: run.run_id }}
            className={styles.action}
            aria-label={text.make.paint}
          >
            <Icon of={Brush} />
          </Link>
        )}
        {output && (
          <a className={styles.action} href={output.url} download aria-label={text.make.download}>
            <Icon of={Download} />
          </a>
        )}
        <TileMenu run={run} />
      </div>
    </>
  );
}

function StarButton({ run: { run_id, starred = false } }: { run: Run }) {
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: async () => client.runs.update(run_id, { starred: !starred }),
    onSuccess: (run) => {
      storeRun(queryClient, run);
      void queryClient.invalidateQueries({ queryKey: ["runs", "list"] });
    },
  });
  return (
    <button
      type="button"
      className={styles.star}
      aria-pressed={starred}
      aria-label={starred ? text.make.unstar : text.make.star}
      onClick={() => change.mutate()}
    >
      <Icon of={Star} />
    </button>
  );
}
