// The stage of a comparison in the chosen mode. A run without an image says so in its place.
import type { Run } from "@gesso/client";
import { ImageOff } from "lucide-react";
import { EmptyState } from "../parts/empty-state.tsx";
import { text } from "../text/text.ts";
import styles from "./compare-page.module.css";
import { FlipView } from "./flip-view.tsx";
import type { CompareMode } from "./modes.ts";
import { SliderView } from "./slider-view.tsx";

type CompareStageProps = { first: Run; second: Run; mode: CompareMode };

export function CompareStage({ first, second, mode }: CompareStageProps) {
  const [a, b] = [first.image_url, second.image_url];
  if (!a || !b) {
    return (
      <div className={styles.stage}>
        <EmptyState icon={ImageOff} title={text.run.noFile} />
      </div>
    );
  }
  const views = {
    slider: <SliderView first={a} second={b} />,
    flip: <FlipView first={a} second={b} />,
    side: (
      <div className={styles.side}>
        <img src={a} alt={text.compare.first} />
        <img src={b} alt={text.compare.second} />
      </div>
    ),
    difference: (
      <div className={styles.overlay}>
        <img src={a} alt={text.compare.difference} />
        <img src={b} alt="" className={styles.difference} />
      </div>
    ),
  };
  return <div className={styles.stage}>{views[mode]}</div>;
}
