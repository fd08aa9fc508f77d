// Shows a new key, once. The key is in the state of this dialog only, so it is gone when the dialog closes.
import type { NewKey } from "@gesso/client";
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Dialog, DialogBody, DialogFooter } from "../parts/dialog.tsx";
import { Notice } from "../parts/notice.tsx";
import { text } from "../text/text.ts";
import styles from "./keys-page.module.css";

type NewKeyDialogProps = { created: NewKey; onClose(): void };

export function NewKeyDialog({ created, onClose }: NewKeyDialogProps) {
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
