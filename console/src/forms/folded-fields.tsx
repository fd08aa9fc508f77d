// A folded part of a form. Its head says what is set inside, and an error inside unfolds it.
import { ChevronRight } from "lucide-react";
import { type ReactNode, useDeferredValue, useState } from "react";
import { classNames } from "../parts/class-names.ts";
import fieldStyles from "../parts/field.module.css";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import type { FieldErrors } from "./field-errors.ts";
import styles from "./folded-fields.module.css";
import type { FormValues } from "./form-values.ts";
import type { FormField } from "./operation-forms.ts";

type FoldedFieldsProps = {
  title: string;
  fields: readonly FormField[];
  values: FormValues;
  errors: FieldErrors;
  children: ReactNode;
};

export function FoldedFields({ title, fields, values, errors, children }: FoldedFieldsProps) {
  const [isOpen, setIsOpen] = useState(false);
  // The folded fields are most of a form, and follow after the page is visible.
  const isReady = useDeferredValue(true, false);
  if (fields.length === 0) return null;
  const count = fields.filter(({ name }) => values[name] !== undefined).length;
  const hasError = fields.some(({ name }) => errors.has(name));
  return (
    <details
      className={styles.fold}
      open={isOpen || hasError}
      onToggle={(event) => setIsOpen(event.currentTarget.open)}
    >
      <summary className={styles.head}>
        <Icon of={ChevronRight} size="s" />
        {title}
        <span className={styles.end}>{count === 0 ? text.form.allDefaults : text.form.setFields(count)}</span>
      </summary>
      <div className={classNames(fieldStyles.stack, styles.fields)}>{(isReady || isOpen || hasError) && children}</div>
    </details>
  );
}
