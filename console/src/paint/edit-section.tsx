// What to put inside the mask: the model, the generated fields of its operation, and the button that sends mask and
// edit.
import { ChevronDown } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { Menu, Button as MenuButton, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { fieldErrorsOf, NO_ERRORS } from "../forms/field-errors.ts";
import { type FormValues, keepKnownValues } from "../forms/form-values.ts";
import { SchemaForm } from "../forms/schema-form.tsx";
import { usePrice } from "../make/use-price.ts";
import { Button } from "../parts/button.tsx";
import { buttonClass } from "../parts/button-class.ts";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Icon } from "../parts/icon.tsx";
import menuStyles from "../parts/menu.module.css";
import { Notice } from "../parts/notice.tsx";
import { PricedButton } from "../parts/priced-button.tsx";
import { text } from "../text/text.ts";
import type { MaskDocument } from "./mask-document.ts";
import {
  formOfMaskEdit,
  MASK_EDITS,
  type MaskEdit,
  modelOfMaskEdit,
  sourceFieldsOf,
  sourceValues,
} from "./mask-edits.ts";
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

const nameOf = (edit: MaskEdit) => modelOfMaskEdit(edit) ?? text.paint.edit.defaultModel;

/** Chooses which operation edits the masked area, by the name of its model. */
function EditModel({ edit, onChange }: { edit: MaskEdit; onChange(edit: MaskEdit): void }) {
  return (
    <MenuTrigger>
      <MenuButton
        className={buttonClass({ kind: "quiet", size: "s" })}
        aria-label={`${text.paint.edit.model}: ${nameOf(edit)}`}
      >
        {nameOf(edit)}
        <Icon of={ChevronDown} size="s" />
      </MenuButton>
      <Popover className={menuStyles.popover ?? ""} placement="bottom end">
        <Menu className={menuStyles.menu ?? ""} aria-label={text.paint.edit.model}>
          {MASK_EDITS.map((each) => (
            <MenuItem
              key={each.operation}
              id={each.operation}
              className={menuStyles.item ?? ""}
              onAction={() => onChange(each)}
            >
              {nameOf(each)}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

type EditNoticeProps = { editing: ReturnType<typeof useMaskedEdit>; onSendAgain(): void };

/** What became of the last edit: a mask that was not sent, a refused request, or a run in progress. */
function EditNotice({ editing, onSendAgain }: EditNoticeProps) {
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
