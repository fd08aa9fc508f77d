// A page that failed to render: what happened, and that runs are not affected.
import { Button } from "../parts/button.tsx";
import { Notice } from "../parts/notice.tsx";
import { text } from "../text/text.ts";
import styles from "./page-message.module.css";

export function PageCrash({ error }: { error: unknown }) {
  const reload = (
    <Button size="s" onClick={() => location.reload()}>
      {text.common.reload}
    </Button>
  );
  return (
    <div className={styles.message}>
      <Notice kind="bad" title={text.pages.crashed} actions={reload}>
        <p>{text.pages.crashedNext}</p>
        <p className="mono">{error instanceof Error ? error.message : String(error)}</p>
      </Notice>
    </div>
  );
}
