// What can be done with a result: star it, paint on it, download it, and what the menu has.

import type { Run } from "@gesso/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Brush, Download, Ellipsis, Star } from "lucide-react";
import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { client } from "../api/client.ts";
import { storeRun } from "../api/store-run.ts";
import { Icon } from "../parts/icon.tsx";
import menuStyles from "../parts/menu.module.css";
import { findPrompt } from "../parts/run-prompt.ts";
import { text } from "../text/text.ts";
import styles from "./result-tile.module.css";

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

/** Further steps from a result: the same request again, or a request on this image. */
function TileMenu({ run }: { run: Run }) {
  const navigate = useNavigate();
  const prompt = findPrompt(run) ?? text.run.noPrompt;
  const items: { label: string; act(): void }[] = [
    { label: text.make.editAgain, act: () => void navigate({ to: "/", search: { from: run.run_id } }) },
    { label: text.make.newSeed, act: () => void navigate({ to: "/", search: { from: run.run_id, seed: "new" } }) },
    { label: text.run.copyId, act: () => void navigator.clipboard.writeText(run.run_id) },
  ];
  return (
    <MenuTrigger>
      <Button className={styles.action ?? ""} aria-label={text.make.more(prompt)}>
        <Icon of={Ellipsis} />
      </Button>
      <Popover className={menuStyles.popover ?? ""} placement="bottom end">
        <Menu className={menuStyles.menu ?? ""} aria-label={text.make.more(prompt)}>
          {items.map(({ label, act }) => (
            <MenuItem key={label} className={menuStyles.item ?? ""} onAction={act}>
              {label}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
