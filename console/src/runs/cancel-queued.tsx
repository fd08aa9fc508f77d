// Cancels every queued run that matches the search, after a question. Runs in progress continue.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { CircleX } from "lucide-react";
import { useState } from "react";
import { client } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { filtersOf, type ListSearch } from "../run-search/list-search.ts";
import { text } from "../text/text.ts";
import styles from "./runs-page.module.css";

/** Cancellation by filter knows fewer filters than the list. */
function isCancelable(search: ListSearch): boolean {
  const { model: _model, user: _user, key: _key, type: _type, before: _before, ...others } = search;
  return Object.keys(others).length === 0;
}

async function cancelAllQueued(search: ListSearch): Promise<number> {
  const { model, user_id, key_id, run_type, created_before } = filtersOf(search);
  const filter = {
    ...(model && { model }),
    ...(user_id && { user_id }),
    ...(key_id && { key_id }),
    ...(run_type && { run_type }),
    ...(created_before && { created_before }),
  };
  let total = 0;
  for (;;) {
    const { canceled, more } = await client.runs.cancelAll({ status: "queued", ...filter });
    total += canceled;
    if (!more || canceled === 0) return total;
  }
}

export function CancelQueued({ search, onCanceled }: { search: ListSearch; onCanceled(): void }) {
  const queryClient = useQueryClient();
  const [isAsking, setIsAsking] = useState(false);
  const cancel = useMutation({
    mutationFn: () => cancelAllQueued(search),
    onSuccess: () => {
      setIsAsking(false);
      void queryClient.invalidateQueries({ queryKey: ["runs", "list"] });
      onCanceled();
    },
  });
  if (!isCancelable(search)) return null;
  return (
    <div className={styles.cancel}>
      <span role="status">{cancel.isSuccess && text.runs.canceled(cancel.data)}</span>
      <Button kind="quiet" size="s" onClick={() => setIsAsking(true)}>
        <Icon of={CircleX} size="s" />
        {text.runs.cancelQueued}
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={text.runs.cancelTitle}
          keep={text.runs.cancelKeep}
          action={text.runs.cancelQueued}
          isSending={cancel.isPending}
          error={cancel.error}
          onConfirm={() => cancel.mutate()}
          onClose={() => setIsAsking(false)}
        >
          {text.runs.cancelWords}
        </ConfirmDialog>
      )}
    </div>
  );
}
