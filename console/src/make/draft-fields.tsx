// The models and the generated fields of a draft. With several models the cost cap is in sight, because it is one for
// all of them.
import { useMemo } from "react";
import { AnyModelFields } from "../any-model/any-model-fields.tsx";
import { INPUT, inputOf } from "../any-model/input-of.ts";
import type { FieldErrors } from "../forms/field-errors.ts";
import { chosenModel } from "../forms/field-states.ts";
import { setFormValue } from "../forms/form-values.ts";
import { isAnyModel } from "../forms/operation-forms.ts";
import { SchemaForm } from "../forms/schema-form.tsx";
import { useStableCallback } from "../parts/use-stable-callback.ts";
import type { Draft } from "./draft.ts";
import { ModelChoice } from "./model-choice.tsx";
import { PromptHistory } from "./prompt-history.tsx";

const CAP = "max_cost";
const PROMPT = "prompt";
const ANY_MODEL_FIELDS = ["model", INPUT];

type DraftFieldsProps = { draft: Draft; errors: FieldErrors; onChange(draft: Draft): void };

export function DraftFields({ draft, errors, onChange }: DraftFieldsProps) {
  const { form, values, furtherModels } = draft;
  const modelField = form.fields.find(({ isModel }) => isModel);
  const furtherInputs = useMemo(
    () => (modelField ? furtherModels.map((model) => ({ ...values, [modelField.name]: model })) : []),
    [values, furtherModels, modelField],
  );
  const chooseFirst = useStableCallback((model: string | undefined) => {
    if (modelField) onChange({ ...draft, values: setFormValue(values, modelField.name, model) });
  });
  const chooseFurther = useStableCallback((models: readonly string[]) => onChange({ ...draft, furtherModels: models }));
  const setPrompt = (prompt: string) => onChange({ ...draft, values: { ...values, [PROMPT]: prompt } });
  const change = (next: Draft["values"]) => onChange({ ...draft, values: next });
  if (isAnyModel(form)) {
    const input = inputOf(values);
    const setInputPrompt = (prompt: string) => change({ ...values, [INPUT]: { ...input, [PROMPT]: prompt } });
    const history = <PromptHistory prompt={input[PROMPT]} onChoose={setInputPrompt} />;
    return (
      <>
        <AnyModelFields values={values} errors={errors} tools={{ [PROMPT]: history }} onChange={change} />
        <SchemaForm form={form} values={values} errors={errors} without={ANY_MODEL_FIELDS} onChange={change} />
      </>
    );
  }
  return (
    <>
      {modelField && (
        <ModelChoice
          operation={form.name}
          field={modelField}
          first={chosenModel(form, values)}
          furtherModels={furtherModels}
          errors={errors.get(modelField.name)}
          onFirst={chooseFirst}
          onFurther={chooseFurther}
        />
      )}
      <SchemaForm
        form={form}
        values={values}
        furtherInputs={furtherInputs}
        errors={errors}
        without={modelField ? [modelField.name] : []}
        raised={furtherModels.length > 0 ? [CAP] : []}
        tools={{ [PROMPT]: <PromptHistory prompt={values[PROMPT]} onChoose={setPrompt} /> }}
        onChange={change}
      />
    </>
  );
}
