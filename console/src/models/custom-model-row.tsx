// A custom model in the list, with its actions.
import type { Model } from "@gesso/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { customModelsQuery } from "../api/models.ts";
import { classNames } from "../parts/class-names.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import table from "../parts/data-table.module.css";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { RowMenu } from "../parts/row-menu.tsx";
import { text } from "../text/text.ts";
import type { ModelDialog } from "./model-dialogs.tsx";
import styles from "./models-page.module.css";

const words = text.models.custom;

type CustomModelRowProps = { model: Model; onAction?: ((dialog: ModelDialog) => void) | undefined };

export function CustomModelRow({ model, onAction }: CustomModelRowProps) {
  const queryClient = useQueryClient();
  const isActive = model.status === "active";
  const switching = useMutation({
    mutationFn: async () => client.models.update(model.model_id, { status: isActive ? "disabled" : "active" }),
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: customModelsQuery.queryKey }),
  });
  const visibilities: Record<string, string> = words.visibilities;
  const statuses: Record<string, string> = words.statuses;
  return (
    <tr className={classNames(!isActive && table.off)}>
      <td>
        <span className={styles.customName}>
          <span className={table.strong}>{model.name}</span>
          <CopyButton value={model.model_id} label={words.copyId(model.name)} isIconOnly />
        </span>
        {model.description && <span className={table.sub}>{model.description}</span>}
        {switching.error && <ErrorNotice error={switching.error} />}
      </td>
      <td>{model.model_type}</td>
      <td className={classNames("mono", table.second)}>{model.deployment_id}</td>
      <td className={table.second}>{model.trigger_word ?? <span className={table.quiet}>{words.noTrigger}</span>}</td>
      <td className={table.first}>{onAction ? (visibilities[model.visibility] ?? model.visibility) : model.owner}</td>
      <td className={table.first}>{statuses[model.status] ?? model.status}</td>
      <td className={table.actions}>
        {onAction && (
          <RowMenu
            label={words.actions(model.name)}
            actions={[
              { label: words.edit, run: () => onAction({ kind: "edit", model }) },
              { label: words.grants, run: () => onAction({ kind: "grants", model }) },
              { label: isActive ? words.disable : words.enable, run: () => switching.mutate() },
              { label: words.remove, run: () => onAction({ kind: "delete", model }) },
            ]}
          />
        )}
      </td>
    </tr>
  );
}
