// What to put inside the mask: the model, the generated fields of its operation, and the button that sends mask and
// edit.
import { type FormEvent, type ReactNode, useState } from "react";
import { fieldErrorsOf, NO_ERRORS } from "../forms/field-errors.ts";
import { type FormValues, keepKnownValues } from "../forms/form-values.ts";
import { SchemaForm } from "../forms/schema-form.tsx";
import { usePrice } from "../make/use-price.ts";
import { PricedButton } from "../parts/priced-button.tsx";
import { text } from "../text/text.ts";
import { EditModel } from "./edit-model.tsx";
import { EditNotice } from "./edit-notice.tsx";
import type { MaskDocument } from "./mask-document.ts";
import { formOfMaskEdit, MASK_EDITS, type MaskEdit, sourceFieldsOf, sourceValues } from "./mask-edits.ts";
import type { PaintedImage } from "./painted-image.ts";
import styles from "./panel.module.css";
import { priceLabel } from "./price-label.ts";
import { useMaskState } from "./use-mask-state.ts";
import type { useMaskedEdit } from "./use-masked-edit.ts";

type EditSectionProps = {
  image: PaintedImage;
  document: MaskDocument;
  editing: ReturnType<typeof useMaskedEdit>;
  /** The edit in progress, above the button. */
  children?: ReactNode;
};

export function EditSection({ image, document, editing, children }: EditSectionProps) {
  const [edit, setEdit] = useState<MaskEdit>(MASK_EDITS[0]!);
  const [values, setValues] = useState<FormValues>({});
  const { isEmpty } = useMaskState(document);
  const { send, isSending, error } = editing;
  const form = formOfMaskEdit(edit);
  const names = form.fields.map(({ name }) => name);
  const known = keepKnownValues(values, names);
  // The price does not depend on the mask, which has no run yet: the image stands in for it.
  const source = sourceValues(form, edit.sourceField, image);
  const price = usePrice({ form, values: { ...known, ...source, [edit.maskField]: image.runId }, furtherModels: [] });
  const missing = form.fields.find(({ name, isRequired, isLong }) => isRequired && isLong && known[name] === undefined);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isSending) send({ edit, values: known });
  };
  return (
    <form className={styles.edit} aria-label={text.paint.edit.title} onSubmit={submit} noValidate>
      <div className={styles.editHead}>
        <h2>{text.paint.edit.title}</h2>
        <EditModel edit={edit} onChange={setEdit} />
      </div>
      <div className={styles.fields}>
        <SchemaForm
          form={form}
          values={known}
          errors={error ? fieldErrorsOf(error) : NO_ERRORS}
          without={sourceFieldsOf(form)}
          onChange={(next) => setValues({ ...leaveOut(values, names), ...next })}
        />
      </div>
      <div className={styles.foot}>
        {children}
        <EditNotice editing={editing} onSendAgain={() => send({ edit, values: known })} />
        <PricedButton
          label={labelOf({ isEmpty, missing: missing?.label, editing, hasPrompt: known.prompt !== undefined })}
          price={priceLabel(price)}
          isDisabled={isEmpty || missing !== undefined}
        />
        <p className={styles.hint}>{text.paint.edit.promise}</p>
      </div>
    </form>
  );
}

/** Values of fields that the chosen operation does not have stay for the others. */
const leaveOut = (values: FormValues, names: readonly string[]): FormValues =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));

type LabelFacts = {
  isEmpty: boolean;
  missing: string | undefined;
  editing: EditSectionProps["editing"];
  hasPrompt: boolean;
};

function labelOf({ isEmpty, missing, editing, hasPrompt }: LabelFacts): string {
  const words = text.paint.edit;
  if (editing.isSending) return words[editing.phase];
  if (isEmpty) return words.maskFirst;
  if (missing) return text.make.enterPrompt(missing);
  return hasPrompt ? words.edit : words.remove;
}
