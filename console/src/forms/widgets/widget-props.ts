// What every widget gets. `value` is undefined while the user has set nothing.
import type { FieldError } from "@gesso/client";
import type { ReactNode } from "react";
import { text } from "../../text/text.ts";
import type { FieldState } from "../field-states.ts";
import type { FormField } from "../operation-forms.ts";

/** One field of a form. */
export type FieldProps = {
  /** ID of the control, for its label. */
  id: string;
  field: FormField;
  state: FieldState;
  value: unknown;
  onChange(value: unknown): void;
  errors: readonly FieldError[];
  /** The chosen model, for the words about it. */
  model?: string | undefined;
  /** Without label and hint, for the items of a list. */
  isBare?: boolean | undefined;
  /** Buttons within the field. */
  tools?: ReactNode;
  /** Shares its row with the field beside it. */
  isHalf?: boolean | undefined;
};

export type WidgetProps = FieldProps & {
  /** IDs of the hint and the error. */
  describedBy: string | undefined;
  /** Renders a field within this one, for lists. */
  renderField(props: FieldProps): ReactNode;
};

/** Attributes that tie a control to its label, hint and error. */
export const controlAttributes = ({
  id,
  field,
  state,
  errors,
  describedBy,
  isBare,
}: Pick<WidgetProps, "id" | "field" | "state" | "errors" | "describedBy" | "isBare">) => ({
  id,
  ...(isBare && { "aria-label": field.label }),
  "aria-required": state.isRequired,
  "aria-invalid": errors.length > 0,
  "aria-describedby": describedBy,
});

/** The value as text, for inputs. */
export const asText = (value: unknown): string => (value === undefined || value === null ? "" : String(value));

/** What an empty input says: the value that applies without one, or an example. */
export function placeholderOf({ default: preset, example }: Pick<FormField, "default" | "example">): string {
  if (typeof preset === "object" && preset !== null) return JSON.stringify(preset);
  if (preset !== undefined && preset !== null) return String(preset);
  return example === undefined ? "" : text.form.example(example);
}
