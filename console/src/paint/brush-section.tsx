// Size and hardness of the brush.
import { text } from "../text/text.ts";
import { MAX_SIZE, MIN_SIZE } from "./brush-settings.ts";
import styles from "./panel.module.css";
import { PropertySlider } from "./property-slider.tsx";
import type { Painting } from "./use-painting.ts";

/** The slider ends here, because most brushes are small; the field takes larger ones. */
const SLIDER_SIZE = 400;

export function BrushSection({ painting }: { painting: Painting }) {
  const { settings, changeSettings } = painting;
  return (
    <section className={styles.section}>
      <h2>{text.paint.brush.title}</h2>
      <PropertySlider
        label={text.paint.brush.size}
        unit="px"
        value={settings.size}
        minimum={MIN_SIZE}
        maximum={MAX_SIZE}
        sliderMaximum={SLIDER_SIZE}
        onChange={(size) => changeSettings({ size })}
      />
      <PropertySlider
        label={text.paint.brush.hardness}
        unit="%"
        value={settings.hardness}
        minimum={0}
        maximum={100}
        onChange={(hardness) => changeSettings({ hardness })}
      />
    </section>
  );
}
