// Asks before something that cannot be undone. The button names what it does.
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Dialog, DialogBody, DialogFooter } from "./dialog.tsx";
import { ErrorNotice } from "./error-notice.tsx";

type ConfirmDialogProps = {
  title: string;
  children: ReactNode;
  keep: string;
  action: string;
  isSending: boolean;
  error: unknown;
  onConfirm(): void;
  onClose(): void;
};

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, children, keep, action, isSending, error, onConfirm, onClose } = props;
  return (
    <Dialog title={title} onClose={onClose}>
      <DialogBody>
        {children}
        {error !== null && error !== undefined && <ErrorNotice error={error} />}
      </DialogBody>
      <DialogFooter>
        <Button onClick={onClose}>{keep}</Button>
        <Button
          kind="danger"
          aria-disabled={isSending}
          onClick={() => {
            if (!isSending) onConfirm();
          }}
        >
          {action}
        </Button>
      </DialogFooter>
    </Dialog>
  );
}
