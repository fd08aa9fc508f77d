// The form of the operation that created a run, for "edit again" and code samples. Uploads have none.
import type { Run } from "@gesso/client";
import type { OperationForm } from "./operation-forms.ts";

export const findFormOfRun = (
  forms: readonly OperationForm[],
  { operation }: Pick<Run, "operation">,
): OperationForm | undefined => forms.find(({ name }) => name === operation);
