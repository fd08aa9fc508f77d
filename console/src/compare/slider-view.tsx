// Two images over each other with a handle between them, for pointer, touch and keyboard.
import { ChevronsLeftRight } from "lucide-react";
import { type PointerEvent, useState } from "react";
import { cssVariables } from "../parts/css-variables.ts";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import styles from "./compare-page.module.css";
import { positionAfterKey } from "./modes.ts";

type SliderViewProps = { first: string; second: string };

export function SliderView({ first, second }: SliderViewProps) {
  const [position, setPosition] = useState(50);
  const follow = ({ currentTarget, clientX }: PointerEvent<HTMLDivElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    setPosition(Math.min(100, Math.max(0, ((clientX - left) / width) * 100)));
  };
  return (
    <div
      ref={cssVariables({ "--v": `${position}%` })}
      className={styles.overlay}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        follow(event);
      }}
      onPointerMove={(event) => {
        if (event.buttons > 0) follow(event);
      }}
    >
      <img src={first} alt={text.compare.first} draggable={false} />
      <img src={second} alt={text.compare.second} draggable={false} className={styles.clipped} />
      <div
        className={styles.handle}
        role="slider"
        tabIndex={0}
        aria-label={text.compare.slider}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(position)}
        aria-valuetext={text.compare.sliderValue(Math.round(position))}
        onKeyDown={(event) => {
          const next = positionAfterKey(position, event.key, event.shiftKey);
          if (next === undefined) return;
          event.preventDefault();
          setPosition(next);
        }}
      >
        <span className={styles.knob}>
          <Icon of={ChevronsLeftRight} />
        </span>
      </div>
    </div>
  );
}
