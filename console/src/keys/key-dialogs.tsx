// The dialogs of the Keys page: create, rotate, revoke, and the one that shows a new key.
import type { Key, KeysCreateInput, KeysRotateInput, NewKey } from "@gesso/client";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { keysQuery } from "../api/access.ts";
import { client } from "../api/client.ts";
import { sessionQuery } from "../api/queries.ts";
import { ManagementDialog } from "../forms/management-dialog.tsx";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Dialog, DialogBody, DialogFooter } from "../parts/dialog.tsx";
import { Notice } from "../parts/notice.tsx";
import { text } from "../text/text.ts";
import { findKeysBelow } from "./key-facts.ts";
import styles from "./keys-page.module.css";

export type KeyDialog =
  | { kind: "create" }
  | { kind: "rotate"; key: Key }
  | { kind: "revoke"; key: Key; isOwn: boolean }
  /** The secret is held by this dialog alone, and is gone when it closes. */
  | { kind: "created"; key: NewKey };

type KeyDialogsProps = { dialog: KeyDialog; onClose(): void; onChange(dialog: KeyDialog): void };

export function KeyDialogs({ dialog, onClose, onChange }: KeyDialogsProps) {
  const show = (key: NewKey) => onChange({ kind: "created", key });
  switch (dialog.kind) {
    case "create":
      return <CreateKeyDialog onClose={onClose} onCreated={show} />;
    case "rotate":
      return <RotateKeyDialog apiKey={dialog.key} onClose={onClose} onCreated={show} />;
    case "revoke":
      return <RevokeKeyDialog apiKey={dialog.key} isOwn={dialog.isOwn} onClose={onClose} />;
    case "created":
      return <NewKeyDialog created={dialog.key} onClose={onClose} />;
  }
}

type CreateKeyDialogProps = { onClose(): void; onCreated(key: NewKey): void };

/** Creates a key with the fields of the contract. */
function CreateKeyDialog({ onClose, onCreated }: CreateKeyDialogProps) {
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

type NewKeyDialogProps = { created: NewKey; onClose(): void };

/** Shows a new key, once. The key is in the state of this dialog only, so it is gone when the dialog closes. */
function NewKeyDialog({ created, onClose }: NewKeyDialogProps) {
  return (
    <Dialog title={text.keys.newTitle} isWide isDismissable={false} onClose={onClose}>
      <DialogBody>
        {created.key === null ? (
          <Notice kind="warn" title={text.keys.newMissing} />
        ) : (
          <>
            <p>{text.keys.newWhy}</p>
            <div className={styles.secret}>
              <code className="mono">{created.key}</code>
              <CopyButton value={created.key} label={text.common.copy} />
            </div>
          </>
        )}
      </DialogBody>
      <DialogFooter>
        <Button kind="primary" onClick={onClose}>
          {text.keys.newDone}
        </Button>
      </DialogFooter>
    </Dialog>
  );
}

type RevokeKeyDialogProps = { apiKey: Key; isOwn: boolean; onClose(): void };

/** Revokes a key and the keys created with it. The session of the page ends if it was started with this key. */
function RevokeKeyDialog({ apiKey, isOwn, onClose }: RevokeKeyDialogProps) {
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
      action={text.keys.revokeAction(1 + apiKey.descendants)}
      isSending={isPending}
      error={error}
      onConfirm={() => mutate()}
      onClose={onClose}
    >
      <p>{text.keys.revokeWhy}</p>
      {apiKey.descendants > 0 && <KeysBelow apiKey={apiKey} />}
      {isOwn && <p>{text.keys.revokeOwn}</p>}
    </ConfirmDialog>
  );
}

const SHOWN_BELOW = 5;

/** The keys that a revocation takes along, by name. The list of the page may not have loaded all of them. */
function KeysBelow({ apiKey }: { apiKey: Key }) {
  const { data } = useInfiniteQuery(keysQuery);
  const keys = data?.pages.flatMap((page) => page.data) ?? [];
  const shown = findKeysBelow(keys, apiKey, Date.now()).slice(0, SHOWN_BELOW);
  const rest = apiKey.descendants - shown.length;
  return (
    <div>
      <p>{text.keys.revokeBelow(apiKey.descendants)}</p>
      <ul className={styles.below}>
        {shown.map(({ id, name, hint }) => (
          <li key={id}>
            <b>{name}</b> <span className="mono">{text.keys.hint(hint)}</span>
          </li>
        ))}
        {rest > 0 && <li>{text.keys.moreBelow(rest)}</li>}
      </ul>
    </div>
  );
}

type RotateKeyDialogProps = { apiKey: Key; onClose(): void; onCreated(key: NewKey): void };

/** Replaces a key by a new one. Both work during the overlap. */
function RotateKeyDialog({ apiKey, onClose, onCreated }: RotateKeyDialogProps) {
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
