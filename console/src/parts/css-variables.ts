// Sets custom properties of an element through the CSSOM. The content security policy refuses style attributes in
// markup, and sizes that depend on data cannot stand in a style sheet.
export type CssVariables = Record<`--${string}`, string>;

/** A ref callback: `<div ref={cssVariables({ "--v": "64%" })}>`. */
export const cssVariables = (variables: CssVariables) => (element: HTMLElement | null) => {
  for (const [name, value] of Object.entries(variables)) element?.style.setProperty(name, value);
};
