// Shows a signing secret, once. It is in the state of this dialog only, so it is gone when the dialog closes.
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Dialog, DialogBody, DialogFooter } from "../parts/dialog.tsx";
import { Notice } from "../parts/notice.tsx";
import { text } from "../text/text.ts";
import styles from "./delivery.module.css";

const words = text.webhooks;

export function SecretDialog({ secret, onClose }: { secret: string | null; onClose(): void }) {
  return (
    <Dialog title={words.secretTitle} isWide isDismissable={false} onClose={onClose}>
      <DialogBody>
        {secret === null ? (
          <Notice kind="info" title={words.secretGone} />
        ) : (
          <>
            <p>{words.secretWhy}</p>
            <div className={styles.secret}>
              <code className="mono">{secret}</code>
              <CopyButton value={secret} label={text.common.copy} />
            </div>
          </>
        )}
      </DialogBody>
      <DialogFooter>
        <Button kind="primary" onClick={onClose}>
          {words.secretDone}
        </Button>
      </DialogFooter>
    </Dialog>
  );
}
