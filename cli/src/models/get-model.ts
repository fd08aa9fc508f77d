// Reads an imported model, and reports a name or a document that Gesso refuses in one plain sentence.
import { type Client, type ImportedModel, ValidationError } from "@gesso/client";
import { commandError } from "../exit-codes.ts";

export const getModel = (client: Client, name: string): Promise<ImportedModel> =>
  client.catalogue.getModel(name).catch(refusePlainly);

/** The field is what the command is about, so its name says nothing. */
export function refusePlainly(thrown: unknown): never {
  const reason = findRefusal(thrown);
  if (reason === undefined) throw thrown;
  throw commandError("usage", reason);
}

/** Why Gesso refused the model. Undefined for any other error. */
export function findRefusal(thrown: unknown): string | undefined {
  if (!ValidationError.isInstance(thrown) || thrown.fieldErrors.length === 0) return undefined;
  const isOfTenants = (path: string) => path.startsWith("/tenant_ids");
  if (!thrown.fieldErrors.every(({ path }) => path === "/model" || isOfTenants(path))) return undefined;
  const reasons = thrown.fieldErrors
    .map(({ path, message }) => (isOfTenants(path) ? `--tenant: ${message}` : message))
    .join(" ");
  return reasons.replace("See catalogue.listModels.", "All names: gesso models search.");
}
