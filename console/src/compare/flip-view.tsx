// Shows the first image, and the second one while the button or the space bar is held.
import { useState } from "react";
import { text } from "../text/text.ts";
import styles from "./compare-page.module.css";

type FlipViewProps = { first: string; second: string };

export function FlipView({ first, second }: FlipViewProps) {
  const [isHeld, setIsHeld] = useState(false);
  const hold = () => setIsHeld(true);
  const release = () => setIsHeld(false);
  return (
    <button
      type="button"
      className={styles.flip}
      aria-label={text.compare.flip}
      aria-pressed={isHeld}
      onPointerDown={hold}
      onPointerUp={release}
      onPointerLeave={release}
      onKeyDown={({ key }) => key === " " && hold()}
      onKeyUp={release}
      onBlur={release}
    >
      <img src={isHeld ? second : first} alt={isHeld ? text.compare.second : text.compare.first} draggable={false} />
    </button>
  );
}
