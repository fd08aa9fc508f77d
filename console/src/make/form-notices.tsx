// What became of the last request: refused, refused because of fields, or already started before.
import type { FieldErrors } from "../forms/field-errors.ts";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Notice } from "../parts/notice.tsx";
import { text } from "../text/text.ts";
import type { AcceptedRun } from "./call-operation.ts";

type FormNoticesProps = { error: Error | null; errors: FieldErrors; accepted: readonly AcceptedRun[] };

export function FormNotices({ error, errors, accepted }: FormNoticesProps) {
  if (errors.size > 0) return <Notice kind="bad" title={text.form.invalid(errors.size)} />;
  if (error) return <ErrorNotice error={error} />;
  if (accepted.some(({ isReplay }) => isReplay)) return <Notice kind="info" title={text.make.replayed} />;
  return null;
}
