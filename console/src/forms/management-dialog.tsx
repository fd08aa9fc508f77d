// A dialog with the generated form of an operation. Refusals appear at their fields, and the focus goes to the first.
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog, DialogBody, DialogFooter } from "../parts/dialog.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { text } from "../text/text.ts";
import { type FieldErrors, fieldErrorsOf, firstInvalidField } from "./field-errors.ts";
import { focusField } from "./focus-field.ts";
import type { FormValues } from "./form-values.ts";
import { ManagementFields } from "./management-fields.tsx";
import { findManagementForm, type ManagementOperation } from "./management-forms.ts";

type ManagementDialogProps<Result> = {
  operation: ManagementOperation;
  title: string;
  /** What the dialog says above the form. */
  children?: ReactNode;
  action: string;
  initial?: FormValues;
  without?: readonly string[];
  isUnfolded?: boolean;
  send(values: FormValues): Promise<Result>;
  onSent(result: Result): void;
  onClose(): void;
};

export function ManagementDialog<Result>(props: ManagementDialogProps<Result>) {
  const { operation, title, children, action, initial = {}, without, isUnfolded, send, onSent, onClose } = props;
  const [values, setValues] = useState(initial);
  // Results can contain secrets, so none stays in the cache.
  const { mutate, error, isPending } = useMutation({
    mutationFn: send,
    gcTime: 0,
    onSuccess: onSent,
    onError: (thrown) => focusFirst(operation, fieldErrorsOf(thrown)),
  });
  const errors = fieldErrorsOf(error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isPending) mutate(values);
  };
  return (
    <Dialog title={title} isWide isDismissable={false} onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <DialogBody>
          {children}
          {error && errors.size === 0 && <ErrorNotice error={error} />}
          <ManagementFields
            {...{ operation, values, errors }}
            {...(without && { without })}
            {...(isUnfolded && { isUnfolded })}
            onChange={setValues}
          />
        </DialogBody>
        <DialogFooter>
          <Button onClick={onClose}>{text.common.cancel}</Button>
          <Button kind="primary" type="submit" aria-disabled={isPending}>
            {action}
          </Button>
        </DialogFooter>
      </form>
    </Dialog>
  );
}

function focusFirst(operation: ManagementOperation, errors: FieldErrors): void {
  const names = findManagementForm(operation).fields.map(({ name }) => name);
  const first = firstInvalidField(errors, names);
  if (first) focusField(first);
}
