// A run in the unfolded tray, with a button to cancel it while it is open.
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import { client } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import styles from "./tray-list.module.css";
import { TrayProgress } from "./tray-progress.tsx";
import { isOpen, type TrayRun } from "./tray-runs.ts";
import { TrayThumbnail } from "./tray-thumbnail.tsx";

export function TrayRow({ run }: { run: TrayRun }) {
  const prompt = run.prompt ?? text.run.noPrompt;
  const cancel = useMutation({ mutationFn: async () => client.runs.cancel(run.run_id) });
  return (
    <li>
      <TrayThumbnail run={run} />
      <Link to="/runs/$runId" params={{ runId: run.run_id }} className="clip">
        {prompt}
      </Link>
      <TrayProgress run={run} />
      <span className={styles.model}>{run.model}</span>
      {isOpen(run) && !run.isStarting ? (
        <Button
          kind="quiet"
          size="s"
          isIconOnly
          label={text.tray.cancel(prompt)}
          aria-disabled={cancel.isPending}
          onClick={() => cancel.mutate()}
        >
          <Icon of={X} size="s" />
        </Button>
      ) : (
        <span />
      )}
    </li>
  );
}
