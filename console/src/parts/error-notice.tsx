// An error of a request: its sentence, its code, the request ID and the page about the code.
import { GessoError } from "@gesso/client";
import { text } from "../text/text.ts";
import { Button } from "./button.tsx";
import { buttonClass } from "./button-class.ts";
import { Notice } from "./notice.tsx";

type ErrorNoticeProps = { error: unknown; onRetry?: (() => void) | undefined };

export function ErrorNotice({ error, onRetry }: ErrorNoticeProps) {
  const known = GessoError.isInstance(error) ? error : undefined;
  const actions = (
    <>
      {onRetry && (
        <Button size="s" onClick={onRetry}>
          {text.common.retry}
        </Button>
      )}
      {known?.docUrl && (
        <a className={buttonClass({ kind: "quiet", size: "s" })} href={known.docUrl} target="_blank" rel="noreferrer">
          {text.common.aboutError}
        </a>
      )}
    </>
  );
  return (
    <Notice kind="bad" title={error instanceof Error ? error.message : String(error)} actions={actions}>
      {known?.code && <span className="mono">{known.code}</span>}{" "}
      {known?.requestId && <span className="mono">{text.common.requestId(known.requestId)}</span>}
    </Notice>
  );
}
