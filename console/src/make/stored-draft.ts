// The draft of the form in the browser's storage, so that a reload or another page does not lose it. Secrets are left
// out, and the draft of another user is ignored.
import { isDataUrl } from "../forms/file-input.ts";
import { findOperationForm, OPERATION_FORMS } from "../forms/operation-forms.ts";
import type { Draft } from "./draft.ts";

/** Sign-out removes keys that begin with `gesso.draft`. */
const STORAGE_KEY = "gesso.draft";

type StoredDraft = { user: string; operation: string; values: Draft["values"]; furtherModels: readonly string[] };

export function serializeDraft({ form, values, furtherModels }: Draft, user: string): string {
  const secrets = form.fields.filter(({ isSecret }) => isSecret).map(({ name }) => name);
  const kept = Object.fromEntries(Object.entries(values).filter(([name]) => !secrets.includes(name)));
  return JSON.stringify({ user, operation: form.name, values: kept, furtherModels } satisfies StoredDraft, dropFiles);
}

/** Files within the request are too large for the storage of the browser. */
function dropFiles(_name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((each) => !isDataUrl(each));
  return isDataUrl(value) ? undefined : value;
}

/** The stored draft; undefined if there is none, if it is damaged, or if it is that of another user. */
export function parseDraft(stored: string | null, user: string): Draft | undefined {
  try {
    const { user: owner, operation, values, furtherModels } = JSON.parse(stored ?? "") as StoredDraft;
    const isKnown = OPERATION_FORMS.some(({ name }) => name === operation);
    if (owner !== user || !isKnown || typeof values !== "object" || !Array.isArray(furtherModels)) return undefined;
    return { form: findOperationForm(operation), values, furtherModels };
  } catch {
    return undefined;
  }
}

export const readStoredDraft = (user: string): Draft | undefined => parseDraft(localStorage.getItem(STORAGE_KEY), user);

export const storeDraft = (draft: Draft, user: string): void =>
  localStorage.setItem(STORAGE_KEY, serializeDraft(draft, user));
