// The form of Make: operation, models, fields, price and the button that starts the runs. Errors land at their fields.
import { type FormEvent, type KeyboardEvent, useState } from "react";
import {
  type FieldErrors,
  fieldErrorsOf,
  firstInvalidField,
  NO_ERRORS,
  withoutChanged,
} from "../forms/field-errors.ts";
import { focusField } from "../forms/focus-field.ts";
import { RequestCode } from "../forms/request-code.tsx";
import { classNames } from "../parts/class-names.ts";
import fieldStyles from "../parts/field.module.css";
import { useStableCallback } from "../parts/use-stable-callback.ts";
import { type Draft, requestsOf } from "./draft.ts";
import { DraftFields } from "./draft-fields.tsx";
import { FormHead, type FormView } from "./form-head.tsx";
import { FormNotices } from "./form-notices.tsx";
import styles from "./make-form.module.css";
import { RequestJson } from "./request-json.tsx";
import { RunFooter } from "./run-footer.tsx";
import { withSharedCap } from "./shared-cap.ts";
import { usePrice } from "./use-price.ts";
import { useStartRuns } from "./use-start-runs.ts";

type MakeFormProps = { draft: Draft; onChange(draft: Draft): void; onChooseOperation(name: string): void };

export function MakeForm({ draft, onChange, onChooseOperation }: MakeFormProps) {
  const { form } = draft;
  const [view, setView] = useState<FormView>("form");
  const [errors, setErrors] = useState<FieldErrors>(NO_ERRORS);
  const price = usePrice(draft);
  const start = useStartRuns();
  const change = (next: Draft) => {
    const isSameModels = next.furtherModels === draft.furtherModels;
    setErrors(isSameModels ? withoutChanged(errors, draft.values, next.values) : NO_ERRORS);
    onChange(next);
  };
  const showErrors = (error: unknown) => {
    const found = fieldErrorsOf(error);
    setErrors(found);
    const names = form.fields.map(({ name }) => name);
    const first = firstInvalidField(found, names);
    if (first) setView("form");
    // After the render that unfolds the section of the field.
    if (first) setTimeout(() => focusField(first));
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setErrors(NO_ERRORS);
    start.mutate(withSharedCap(requestsOf(draft), price.amounts), { onError: showErrors });
  };
  const choose = useStableCallback((name: string) => {
    setErrors(NO_ERRORS);
    start.reset();
    onChooseOperation(name);
  });
  return (
    <form
      className={styles.form}
      aria-label={form.label}
      noValidate
      onSubmit={submit}
      onKeyDown={keepEnterFromSubmitting}
    >
      <FormHead form={form} view={view} onView={setView} onChooseOperation={choose} />
      <div className={classNames(fieldStyles.stack, styles.fields)}>
        <FormNotices
          error={errors.size > 0 || isFieldError(start.error) ? null : start.error}
          errors={errors}
          accepted={start.data ?? []}
        />
        {view === "form" && <DraftFields draft={draft} errors={errors} onChange={change} />}
        {view === "json" && <RequestJson key={form.name} draft={draft} onChange={change} />}
        {view === "code" && <RequestCode form={form} input={draft.values} />}
      </div>
      <RunFooter draft={draft} price={price} isStarting={start.isPending} />
    </form>
  );
}

/** Errors of fields stand at the fields, until those change. */
const isFieldError = (error: unknown) => fieldErrorsOf(error).size > 0;

/** Enter in a field must not spend money; only the button and its shortcut do. */
function keepEnterFromSubmitting(event: KeyboardEvent<HTMLFormElement>): void {
  const isInput = event.target instanceof HTMLInputElement;
  if (event.key === "Enter" && isInput && !event.ctrlKey && !event.metaKey) event.preventDefault();
}
