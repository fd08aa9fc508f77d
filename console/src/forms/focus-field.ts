// Moves the focus to the control of a field, for the first error of a request. A field within another has both names.
export function focusField(...names: readonly string[]): void {
  const field = document.querySelector(names.map((name) => `[data-field="${CSS.escape(name)}"]`).join(" "));
  field?.querySelector<HTMLElement>(":is(input, textarea, select, button):not([hidden])")?.focus();
}
