// Shows the first image, and the second one while the button or the space bar is held.
import { useState } from "react";
import { text } from "../text/text.ts";
import styles from "./compare-page.module.css";

/** `isHeld`: the space bar is held anywhere on the page. */
type FlipViewProps = { first: string; second: string; isHeld: boolean };

export function FlipView({ first, second, isHeld }: FlipViewProps) {
  const [isPressed, setIsPressed] = useState(false);
  const hold = () => setIsPressed(true);
  const release = () => setIsPressed(false);
  const isSecond = isHeld || isPressed;
  return (
    <button
      type="button"
      className={styles.flip}
      aria-label={text.compare.flip}
      aria-pressed={isSecond}
      onPointerDown={hold}
      onPointerUp={release}
      onPointerCancel={release}
      onPointerLeave={release}
      onContextMenu={(event) => event.preventDefault()}
      onKeyDown={({ key }) => key === " " && hold()}
      onKeyUp={release}
      onBlur={release}
    >
      {/* Both images are loaded, so that neither flickers. */}
      <img src={first} alt={text.compare.first} hidden={isSecond} draggable={false} />
      <img src={second} alt={text.compare.second} hidden={!isSecond} draggable={false} />
      <span className={styles.label}>
        <b>{isSecond ? "B" : "A"}</b>
      </span>
    </button>
  );
}
