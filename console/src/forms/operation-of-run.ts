// The form that made a run, for "edit again". A run has its type, not its operation, so of several operations of one
// type the one that has all fields of the request is taken, and the one that names the run's model before others.
import type { Run } from "@gesso/client";
import type { OperationForm } from "./operation-forms.ts";

type RunFacts = Pick<Run, "run_type" | "given" | "model">;

const withoutSigns = (name: string) => name.toLowerCase().replaceAll(/[^a-z\d]/g, "");

export function findFormOfRun(forms: readonly OperationForm[], run: RunFacts): OperationForm | undefined {
  const names = Object.keys(run.given ?? {});
  const fitting = forms
    .filter(({ runType }) => runType === run.run_type)
    .filter(({ fields }) => names.every((name) => fields.some((field) => field.name === name)));
  const model = withoutSigns(run.model ?? "");
  const namesModel = ({ name }: OperationForm) => {
    const last = withoutSigns(name.split(".").at(-1) ?? "");
    return model !== "" && (model.startsWith(last) || last.startsWith(model));
  };
  return fitting.find(namesModel) ?? fitting[0];
}
