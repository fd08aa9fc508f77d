// The models of a draft: one, or up to four side by side.
import type { FieldError } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { memo } from "react";
import { catalogueQuery } from "../api/queries.ts";
import { listModelNames } from "../forms/model-offers.ts";
import type { FormField } from "../forms/operation-forms.ts";
import { Button } from "../parts/button.tsx";
import fieldStyles from "../parts/field.module.css";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import { MAX_MODELS } from "./draft.ts";
import styles from "./make-form.module.css";
import { ModelPicker } from "./model-picker.tsx";

type ModelChoiceProps = {
  operation: string;
  field: FormField;
  first: string | undefined;
  furtherModels: readonly string[];
  errors: readonly FieldError[] | undefined;
  onFirst(model: string | undefined): void;
  onFurther(models: readonly string[]): void;
};

/** Lists of models are costly to render, so a change of another field leaves them alone. */
export const ModelChoice = memo(function ModelChoice(props: ModelChoiceProps) {
  const { operation, field, first, furtherModels, errors = [], onFirst, onFurther } = props;
  const { data: catalogue } = useQuery(catalogueQuery);
  const options = listModelNames(catalogue, operation, (field.options ?? []).map(String));
  const chosen = [first ?? "", ...furtherModels];
  const unchosen = options.filter((option) => !chosen.includes(option));
  const [next] = unchosen;
  return (
    <div className={styles.models} data-field={field.name}>
      <ModelPicker
        label={field.label}
        operation={operation}
        value={first}
        options={options.filter((option) => option === first || unchosen.includes(option))}
        isOptional={field.default === undefined}
        onChange={onFirst}
      />
      {furtherModels.map((model, index) => (
        <div key={model} className={styles.furtherModel}>
          <ModelPicker
            label={field.label}
            operation={operation}
            value={model}
            options={options.filter((option) => option === model || unchosen.includes(option))}
            onChange={(changed) => changed && onFurther(furtherModels.with(index, changed))}
          />
          <Button
            kind="quiet"
            isIconOnly
            label={text.make.removeModel(model)}
            onClick={() => onFurther(furtherModels.filter((each) => each !== model))}
          >
            <Icon of={X} size="s" />
          </Button>
        </div>
      ))}
      {errors.length > 0 && <p className={fieldStyles.error}>{errors.map(({ message }) => message).join(" ")}</p>}
      {next && chosen.length < MAX_MODELS && (
        <Button kind="quiet" size="s" onClick={() => onFurther([...furtherModels, next])}>
          <Icon of={Plus} size="s" />
          {text.make.addModel}
        </Button>
      )}
    </div>
  );
});
