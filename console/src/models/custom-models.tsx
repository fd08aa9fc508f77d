// The custom models that the tenant registered, and those that other tenants granted to it.
import type { Model } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { Box, Plus } from "lucide-react";
import { customModelsQuery } from "../api/models.ts";
import { Button } from "../parts/button.tsx";
import table from "../parts/data-table.module.css";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Icon } from "../parts/icon.tsx";
import { SkeletonRows } from "../parts/skeleton-rows.tsx";
import { text } from "../text/text.ts";
import { CustomModelRow } from "./custom-model-row.tsx";
import type { ModelDialog } from "./model-dialogs.tsx";

const COLUMNS = 7;
const words = text.models.custom;

type CustomModelsProps = { onAction(dialog: ModelDialog): void };

export function CustomModels({ onAction }: CustomModelsProps) {
  const { data, error, isPending, refetch } = useQuery(customModelsQuery);
  const register = (
    <Button kind="primary" onClick={() => onAction({ kind: "create" })}>
      <Icon of={Plus} />
      {text.models.register}
    </Button>
  );
  return (
    <>
      <section className={table.section}>
        <div className={table.head}>
          <h2>{words.heading}</h2>
          <p>{words.hint}</p>
        </div>
        {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {data?.own.length === 0 ? (
          <EmptyState icon={Box} title={words.empty} action={register}>
            {words.emptyNext}
          </EmptyState>
        ) : (
          !error && <ModelTable models={data?.own ?? []} isPending={isPending} onAction={onAction} />
        )}
      </section>
      {data && data.granted.length > 0 && (
        <section className={table.section}>
          <div className={table.head}>
            <h2>{words.granted}</h2>
            <p>{words.grantedHint}</p>
          </div>
          <ModelTable models={data.granted} isPending={false} />
        </section>
      )}
    </>
  );
}

type ModelTableProps = {
  models: readonly Model[];
  isPending: boolean;
  /** Without it, the models can only be used. */
  onAction?: (dialog: ModelDialog) => void;
};

function ModelTable({ models, isPending, onAction }: ModelTableProps) {
  const { name, model, deployment, trigger, visibility, owner, status } = words.columns;
  return (
    <table className={table.table}>
      <thead>
        <tr>
          <th scope="col">{name}</th>
          <th scope="col">{model}</th>
          <th scope="col" className={table.second}>
            {deployment}
          </th>
          <th scope="col" className={table.second}>
            {trigger}
          </th>
          <th scope="col" className={table.first}>
            {onAction ? visibility : owner}
          </th>
          <th scope="col" className={table.first}>
            {status}
          </th>
          <td className={table.actions} />
        </tr>
      </thead>
      <tbody>
        {isPending && <SkeletonRows columns={COLUMNS} />}
        {models.map((each) => (
          <CustomModelRow key={each.model_id} model={each} onAction={onAction} />
        ))}
      </tbody>
    </table>
  );
}
