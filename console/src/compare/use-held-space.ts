// Whether the space bar is held. Controls keep the space bar for themselves.
import { useEffect, useState } from "react";

const OWN_SPACE = "button, a, input, textarea, select, [role=radio], [role=button]";

export function useHeldSpace(): boolean {
  const [isHeld, setIsHeld] = useState(false);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== " " || (event.target instanceof Element && event.target.closest(OWN_SPACE))) return;
      event.preventDefault();
      setIsHeld(true);
    };
    const release = () => setIsHeld(false);
    document.addEventListener("keydown", press);
    document.addEventListener("keyup", release);
    window.addEventListener("blur", release);
    return () => {
      document.removeEventListener("keydown", press);
      document.removeEventListener("keyup", release);
      window.removeEventListener("blur", release);
    };
  }, []);
  return isHeld;
}
