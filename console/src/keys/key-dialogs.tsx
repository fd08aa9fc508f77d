// The dialogs of the Keys page: create, rotate, revoke, and the one that shows a new key.
import type { Key, NewKey } from "@gesso/client";
import { CreateKeyDialog } from "./create-key-dialog.tsx";
import { NewKeyDialog } from "./new-key-dialog.tsx";
import { RevokeKeyDialog } from "./revoke-key-dialog.tsx";
import { RotateKeyDialog } from "./rotate-key-dialog.tsx";

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
