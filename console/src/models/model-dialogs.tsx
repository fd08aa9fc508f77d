// The dialogs of custom models: register, edit, grants, delete.
import type { Model, ModelsCreateInput } from "@gesso/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { customModelsQuery } from "../api/models.ts";
import { ManagementDialog } from "../forms/management-dialog.tsx";
import { findManagementForm } from "../forms/management-forms.ts";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { text } from "../text/text.ts";
import { GrantsDialog } from "./grants-dialog.tsx";
import { modelChanges, modelValues } from "./model-changes.ts";

export type ModelDialog = { kind: "create" } | { kind: "edit" | "grants" | "delete"; model: Model };

const words = text.models.custom;
const UPDATED_FIELDS = findManagementForm("models.update").fields.map(({ name }) => name);

type ModelDialogsProps = { dialog: ModelDialog; onClose(): void; onCreated(): void };

export function ModelDialogs({ dialog, onClose, onCreated }: ModelDialogsProps) {
  switch (dialog.kind) {
    case "create":
      return <CreateDialog onClose={onClose} onCreated={onCreated} />;
    case "edit":
      return <EditDialog model={dialog.model} onClose={onClose} />;
    case "grants":
      return <GrantsDialog model={dialog.model} onClose={onClose} />;
    case "delete":
      return <DeleteDialog model={dialog.model} onClose={onClose} />;
  }
}

const useRefresh = () => {
  const queryClient = useQueryClient();
  return () => void queryClient.invalidateQueries({ queryKey: customModelsQuery.queryKey });
};

function CreateDialog({ onClose, onCreated }: Omit<ModelDialogsProps, "dialog">) {
  const refresh = useRefresh();
  return (
    <ManagementDialog
      operation="models.create"
      title={words.createTitle}
      action={text.models.register}
      send={async (values) => client.models.create(values as ModelsCreateInput)}
      onSent={() => {
        refresh();
        onCreated();
      }}
      onClose={onClose}
    >
      <p>{words.createHint}</p>
    </ManagementDialog>
  );
}

type OneModelProps = { model: Model; onClose(): void };

function EditDialog({ model, onClose }: OneModelProps) {
  const refresh = useRefresh();
  return (
    <ManagementDialog
      operation="models.update"
      title={words.editTitle(model.name)}
      action={words.save}
      isUnfolded
      initial={modelValues(model, UPDATED_FIELDS)}
      send={async (values) => {
        const changes = modelChanges(model, values, UPDATED_FIELDS);
        return Object.keys(changes).length > 0 ? client.models.update(model.model_id, changes) : model;
      }}
      onSent={() => {
        refresh();
        onClose();
      }}
      onClose={onClose}
    />
  );
}

function DeleteDialog({ model, onClose }: OneModelProps) {
  const refresh = useRefresh();
  const { mutate, error, isPending } = useMutation({
    mutationFn: async () => client.models.delete(model.model_id),
    onSuccess: () => {
      refresh();
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={words.removeTitle(model.name)}
      keep={words.keep}
      action={words.removeAction}
      isSending={isPending}
      error={error}
      onConfirm={() => mutate()}
      onClose={onClose}
    >
      <p>{words.removeWhy}</p>
    </ConfirmDialog>
  );
}
