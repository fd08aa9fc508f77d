// The forms of operations that manage access, webhooks, models and tenants, as the generator wrote them.
import file from "../generated/management.json";
import type { FormField } from "./operation-forms.ts";

export type ManagementOperation = keyof typeof file.operations;
type ManagementForm = { title: string; fields: readonly FormField[] };

export const findManagementForm = (operation: ManagementOperation): ManagementForm =>
  file.operations[operation] as unknown as ManagementForm;
