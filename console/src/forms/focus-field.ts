// Moves the focus to the control of a field, for the first error of a request.
export function focusField(name: string): void {
  const field = document.querySelector(`[data-field="${CSS.escape(name)}"]`);
  field?.querySelector<HTMLElement>(":is(input, textarea, select, button):not([hidden])")?.focus();
}
