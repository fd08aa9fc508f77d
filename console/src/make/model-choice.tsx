// The models of a draft: one, or up to four side by side.
import { Plus, X } from "lucide-react";
import { chosenModel } from "../forms/field-states.ts";
import { setFormValue } from "../forms/form-values.ts";
import type { FormField } from "../forms/operation-forms.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import { type Draft, MAX_MODELS } from "./draft.ts";
import styles from "./make-form.module.css";
import { ModelPicker } from "./model-picker.tsx";

type ModelChoiceProps = { draft: Draft; field: FormField; onChange(draft: Draft): void };

export function ModelChoice({ draft, field, onChange }: ModelChoiceProps) {
  const { form, values, furtherModels } = draft;
  const first = chosenModel(form, values);
  const options = (field.options ?? []).map(String);
  const chosen = [first ?? "", ...furtherModels];
  const unchosen = options.filter((option) => !chosen.includes(option));
  const setFurther = (models: string[]) => onChange({ ...draft, furtherModels: models });
  const [next] = unchosen;
  return (
    <div className={styles.models}>
      <ModelPicker
        label={field.label}
        value={first}
        options={options.filter((option) => option === first || unchosen.includes(option))}
        onChange={(model) => onChange({ ...draft, values: setFormValue(values, field.name, model) })}
      />
      {furtherModels.map((model, index) => (
        <div key={model} className={styles.furtherModel}>
          <ModelPicker
            label={field.label}
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
      {next && chosen.length < MAX_MODELS && (
        <Button kind="quiet" size="s" onClick={() => setFurther([...furtherModels, next])}>
          <Icon of={Plus} size="s" />
          {text.make.addModel}
        </Button>
      )}
    </div>
  );
}
