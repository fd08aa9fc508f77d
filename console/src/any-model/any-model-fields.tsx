// The request of any imported model: which model, and the fields of its own schema. Without an imported model, how to
// get one.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { importedModelQuery, importedModelsQuery } from "../api/imported-models.ts";
import { identityQuery } from "../api/queries.ts";
import type { FieldErrors } from "../forms/field-errors.ts";
import type { FormValues } from "../forms/form-values.ts";
import { ErrorNotice } from "../parts/error-notice.tsx";
import fieldStyles from "../parts/field.module.css";
import { useStableCallback } from "../parts/use-stable-callback.ts";
import { isOperator } from "../shell/destinations.ts";
import { text } from "../text/text.ts";
import styles from "./any-model.module.css";
import { INPUT, inputErrors, inputOf, modelNameOf } from "./input-of.ts";
import { describeModelFields } from "./model-fields.ts";
import { ModelInput } from "./model-input.tsx";
import { ModelSearch } from "./model-search.tsx";
import { keepModelValues } from "./model-values.ts";
import { AddModel, NoModels } from "./no-models.tsx";
import { useChosenModel } from "./use-chosen-model.ts";

const words = text.anyModel;
const MODEL = "model";

type AnyModelFieldsProps = {
  values: FormValues;
  errors: FieldErrors;
  /** Buttons within fields of the model, by their names. */
  tools: Readonly<Record<string, ReactNode>>;
  onChange(values: FormValues): void;
};

export function AnyModelFields({ values, errors, tools, onChange }: AnyModelFieldsProps) {
  const name = modelNameOf(values);
  const { model, fields, error } = useChosenModel(name);
  const { data: all, error: listError, refetch } = useQuery(importedModelsQuery({}));
  const { data: identity } = useQuery(identityQuery);
  const queryClient = useQueryClient();
  const setModel = useStableCallback((chosen: string, after: Parameters<typeof keepModelValues>[2]) =>
    onChange({ ...values, [MODEL]: chosen, [INPUT]: keepModelValues(inputOf(values), fields, after) }),
  );
  const choose = (chosen: string) =>
    void queryClient
      .ensureQueryData(importedModelQuery(chosen))
      .then(describeModelFields)
      // The form says then that the model cannot be read.
      .catch(() => [])
      .then((after) => setModel(chosen, after));
  const isEmpty = all?.data.length === 0;
  const modelErrors = errors.get(MODEL) ?? [];
  return (
    <>
      <div className={fieldStyles.field} data-field={MODEL}>
        {listError && <ErrorNotice error={listError} onRetry={() => void refetch()} />}
        {isEmpty && name === undefined && <NoModels onAdded={choose} />}
        {!(isEmpty && name === undefined) && (
          <div className={styles.choice}>
            <ModelSearch name={name} model={model} onChoose={choose} />
            {isOperator(identity) && <AddModel isQuiet onAdded={choose} />}
          </div>
        )}
        {error && name !== undefined && <p className={fieldStyles.error}>{words.unavailable(name)}</p>}
        {modelErrors.length > 0 && (
          <p className={fieldStyles.error}>{modelErrors.map(({ message }) => message).join(" ")}</p>
        )}
      </div>
      <div className={fieldStyles.stack} data-field={INPUT}>
        {model && (
          <ModelInput
            key={model.name}
            fields={fields}
            values={inputOf(values)}
            errors={inputErrors(errors)}
            tools={tools}
            onChange={(input) => onChange({ ...values, [INPUT]: input })}
          />
        )}
      </div>
    </>
  );
}
