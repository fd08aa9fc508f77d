// The theme: that of the system, or the one that the user chose. Colours follow `color-scheme` in tokens.css.
export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const STORAGE_KEY = "gesso.theme";

export const parseTheme = (stored: string | null): Theme => THEMES.find((theme) => theme === stored) ?? "system";
export const nextTheme = (theme: Theme): Theme => THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system";

export const readStoredTheme = (): Theme => parseTheme(localStorage.getItem(STORAGE_KEY));

export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function storeTheme(theme: Theme): void {
  localStorage.setItem(STORAGE_KEY, theme);
  applyTheme(theme);
}
