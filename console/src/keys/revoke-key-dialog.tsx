// Revokes a key and the keys created with it. The session of the page ends if it was started with this key.
import type { Key } from "@gesso/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { keysQuery } from "../api/access.ts";
import { client } from "../api/client.ts";
import { sessionQuery } from "../api/queries.ts";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { text } from "../text/text.ts";

type RevokeKeyDialogProps = { apiKey: Key; isOwn: boolean; onClose(): void };

export function RevokeKeyDialog({ apiKey, isOwn, onClose }: RevokeKeyDialogProps) {
  const queryClient = useQueryClient();
  const { mutate, error, isPending } = useMutation({
    mutationFn: async () => client.keys.revoke(apiKey.id),
    onSuccess: () => {
      onClose();
      if (isOwn) queryClient.setQueryData(sessionQuery.queryKey, null);
      else void queryClient.invalidateQueries({ queryKey: keysQuery.queryKey });
    },
  });
  return (
    <ConfirmDialog
      title={text.keys.revokeTitle(apiKey.name)}
      keep={text.keys.keep}
      action={text.keys.revokeAction}
      isSending={isPending}
      error={error}
      onConfirm={() => mutate()}
      onClose={onClose}
    >
      <p>{text.keys.revokeWhy}</p>
      {apiKey.descendants > 0 && <p>{text.keys.revokeBelow(apiKey.descendants)}</p>}
      {isOwn && <p>{text.keys.revokeOwn}</p>}
    </ConfirmDialog>
  );
}
