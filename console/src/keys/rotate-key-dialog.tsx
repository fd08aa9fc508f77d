// Replaces a key by a new one. Both work during the overlap.
import type { Key, KeysRotateInput, NewKey } from "@gesso/client";
import { useQueryClient } from "@tanstack/react-query";
import { keysQuery } from "../api/access.ts";
import { client } from "../api/client.ts";
import { ManagementDialog } from "../forms/management-dialog.tsx";
import { text } from "../text/text.ts";

type RotateKeyDialogProps = { apiKey: Key; onClose(): void; onCreated(key: NewKey): void };

export function RotateKeyDialog({ apiKey, onClose, onCreated }: RotateKeyDialogProps) {
  const queryClient = useQueryClient();
  return (
    <ManagementDialog
      operation="keys.rotate"
      title={text.keys.rotateTitle(apiKey.name)}
      action={text.keys.rotateAction}
      isUnfolded
      send={async (values) => client.keys.rotate(apiKey.id, values as KeysRotateInput)}
      onSent={(created) => {
        void queryClient.invalidateQueries({ queryKey: keysQuery.queryKey });
        onCreated(created);
      }}
      onClose={onClose}
    >
      <p>{text.keys.rotateWhy}</p>
    </ManagementDialog>
  );
}
