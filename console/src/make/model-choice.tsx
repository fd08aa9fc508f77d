// The models of a draft: one, or up to four side by side.
import type { FieldError } from "@gesso/client";
import { Plus, X } from "lucide-react";
import { chosenModel } from "../forms/field-states.ts";
import { setFormValue } from "../forms/form-values.ts";
import type { FormField } from "../forms/operation-forms.ts";
import { Button } from "../parts/button.tsx";
import fieldStyles from "../parts/field.module.css";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import { type Draft, MAX_MODELS } from "./draft.ts";
import styles from "./make-form.module.css";
import { ModelPicker } from "./model-picker.tsx";

type ModelChoiceProps = {
  draft: Draft;
  field: FormField;
  errors: readonly FieldError[];
  onChange(draft: Draft): void;
};

export function ModelChoice({ draft, field, errors, onChange }: ModelChoiceProps) {
  const { form, values, furtherModels } = draft;
  const first = chosenModel(form, values);
  const options = (field.options ?? []).map(String);
  const chosen = [first ?? "", ...furtherModels];
  const unchosen = options.filter((option) => !chosen.includes(option));
  const setFurther = (models: string[]) => onChange({ ...draft, furtherModels: models });
  const [next] = unchosen;
  return (
    <div className={styles.models} data-field={field.name}>
      <ModelPicker
        label={field.label}
        operation={form.name}
        value={first}
        options={options.filter((option) => option === first || unchosen.includes(option))}
        onChange={(model) => onChange({ ...draft, values: setFormValue(values, field.name, model) })}
      />
      {furtherModels.map((model, index) => (
        <div key={model} className={styles.furtherModel}>
          <ModelPicker
            label={field.label}
            operation={form.name}
            value={model}
            options={options.filter((option) => option === model || unchosen.includes(option))}
            onChange={(changed) => setFurther(furtherModels.with(index, changed))}
          />
          <Button
            kind="quiet"
            isIconOnly
            label={text.make.removeModel(model)}
            onClick={() => setFurther(furtherModels.filter((each) => each !== model))}
          >
            <Icon of={X} size="s" />
          </Button>
        </div>
      ))}
      {errors.length > 0 && <p className={fieldStyles.error}>{errors.map(({ message }) => message).join(" ")}</p>}
      {next && chosen.length < MAX_MODELS && (
        <Button kind="quiet" size="s" onClick={() => setFurther([...furtherModels, next])}>
          <Icon of={Plus} size="s" />
          {text.make.addModel}
        </Button>
      )}
    </div>
  );
}
