// Switches between the system's theme, light and dark.
import { Monitor, Moon, Sun } from "lucide-react";
import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import { nextTheme, readStoredTheme, storeTheme } from "./theme.ts";

const ICONS = { system: Monitor, light: Sun, dark: Moon };

export function ThemeSwitch() {
  const [theme, setTheme] = useState(readStoredTheme);
  const change = () => {
    const next = nextTheme(theme);
    storeTheme(next);
    setTheme(next);
  };
  return (
    <Button kind="quiet" size="s" isIconOnly label={text.account.theme(text.account.themes[theme])} onClick={change}>
      <Icon of={ICONS[theme]} size="s" />
    </Button>
  );
}
