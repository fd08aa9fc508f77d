// A slider over all months with runs, newest at the top. A press jumps to a month; its name shows while dragging.
import { type KeyboardEvent, type PointerEvent, useRef, useState } from "react";
import { classNames } from "../parts/class-names.ts";
import { cssVariables } from "../parts/css-variables.ts";
import { text } from "../text/text.ts";
import { longMonth, monthMarks } from "./month-marks.ts";
import styles from "./months.module.css";

export type MonthCount = { month: string; count: number };

type MonthsProps = {
  months: readonly MonthCount[];
  /** The month of the first row in view. */
  current: string | undefined;
  onJump(month: string): void;
  onOldest(): void;
};

const STEPS: Record<string, number> = {
  ArrowUp: -1,
  ArrowLeft: -1,
  ArrowDown: 1,
  ArrowRight: 1,
  PageUp: -12,
  PageDown: 12,
};

export function Months({ months, current, onJump, onOldest }: MonthsProps) {
  const list = useRef<HTMLOListElement>(null);
  const [dragged, setDragged] = useState<number>();
  const last = months.length - 1;
  const found = months.findIndex(({ month }) => month === current);
  const shown = dragged ?? Math.max(0, found);
  const indexAt = ({ clientY }: PointerEvent) => {
    const { top, height } = list.current!.getBoundingClientRect();
    return Math.max(0, Math.min(last, Math.floor(((clientY - top) / height) * months.length)));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (event.key === "End") onOldest();
    else if (event.key === "Home") onJump(months[0]!.month);
    else if (step) onJump(months[Math.max(0, Math.min(last, shown + step))]!.month);
    else return;
    event.preventDefault();
  };
  const end = () => {
    if (dragged !== undefined) onJump(months[dragged]!.month);
    setDragged(undefined);
  };
  if (months.length < 2) return <div />;
  const { month, count } = months[shown]!;
  return (
    <div
      className={styles.months}
      role="slider"
      tabIndex={0}
      aria-label={text.gallery.months}
      aria-orientation="vertical"
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={shown}
      aria-valuetext={text.gallery.monthWith(longMonth(month), count)}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setDragged(indexAt(event));
      }}
      onPointerMove={(event) => dragged !== undefined && setDragged(indexAt(event))}
      onPointerUp={end}
      onPointerCancel={() => setDragged(undefined)}
    >
      <ol ref={list}>
        {monthMarks(months.map((each) => each.month)).map((mark, index) => (
          <li key={mark.month} className={classNames(index === shown && styles.now)}>
            {mark.year && <b>{mark.year}</b>}
            {mark.label ?? (!mark.year && <i />)}
          </li>
        ))}
      </ol>
      <span
        ref={cssVariables({ "--at": `${((shown + 0.5) / months.length) * 100}%` })}
        className={classNames(styles.bubble, dragged === undefined && styles.hidden)}
        aria-hidden="true"
      >
        {text.gallery.monthWith(longMonth(month), count)}
      </span>
    </div>
  );
}
