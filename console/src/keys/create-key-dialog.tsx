// Creates a key with the fields of the contract.
import type { KeysCreateInput, NewKey } from "@gesso/client";
import { useQueryClient } from "@tanstack/react-query";
import { keysQuery } from "../api/access.ts";
import { client } from "../api/client.ts";
import { ManagementDialog } from "../forms/management-dialog.tsx";
import { text } from "../text/text.ts";

type CreateKeyDialogProps = { onClose(): void; onCreated(key: NewKey): void };

export function CreateKeyDialog({ onClose, onCreated }: CreateKeyDialogProps) {
  const queryClient = useQueryClient();
  return (
    <ManagementDialog
      operation="keys.create"
      title={text.keys.createTitle}
      action={text.keys.create}
      send={async (values) => client.keys.create(values as KeysCreateInput)}
      onSent={(created) => {
        void queryClient.invalidateQueries({ queryKey: keysQuery.queryKey });
        onCreated(created);
      }}
      onClose={onClose}
    >
      <p>{text.keys.createHint}</p>
    </ManagementDialog>
  );
}
