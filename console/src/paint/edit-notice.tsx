// What became of the last edit: a mask that was not sent, a refused request, or a run in progress.
import { fieldErrorsOf } from "../forms/field-errors.ts";
import { Button } from "../parts/button.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Notice } from "../parts/notice.tsx";
import { text } from "../text/text.ts";
import type { useMaskedEdit } from "./use-masked-edit.ts";

type EditNoticeProps = { editing: ReturnType<typeof useMaskedEdit>; onSendAgain(): void };

export function EditNotice({ editing, onSendAgain }: EditNoticeProps) {
  const { error, phase, isSending } = editing;
  if (!error || isSending) return null;
  const errors = fieldErrorsOf(error);
  if (errors.size > 0) return <Notice kind="bad" title={text.form.invalid(errors.size)} />;
  if (phase !== "uploading") return <ErrorNotice error={error} onRetry={onSendAgain} />;
  const actions = (
    <Button size="s" onClick={onSendAgain}>
      {text.paint.edit.sendAgain}
    </Button>
  );
  return (
    <Notice kind="bad" title={text.paint.edit.uploadFailed} actions={actions}>
      {text.paint.edit.uploadFailedNext} <span>{error.message}</span>
    </Notice>
  );
}
