// The mask as a whole: how much is marked, its look, a rectangle by numbers, invert and clear.
import { Contrast } from "lucide-react";
import { Button } from "../parts/button.tsx";
import { cssVariables } from "../parts/css-variables.ts";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import { MASK_COLOURS } from "./brush-settings.ts";
import { clearMask, invertWholeMask } from "./mask-actions.ts";
import { COLOUR_VALUES } from "./mask-colours.ts";
import type { MaskDocument } from "./mask-document.ts";
import styles from "./panel.module.css";
import { PropertySlider } from "./property-slider.tsx";
import { RectangleFields } from "./rectangle-fields.tsx";
import { useMaskState } from "./use-mask-state.ts";
import type { Painting } from "./use-painting.ts";

type MaskSectionProps = { document: MaskDocument; painting: Painting };

const percentOf = (share: number) => (share * 100).toFixed(share < 0.1 ? 1 : 0);

export function MaskSection({ document, painting }: MaskSectionProps) {
  const { settings, changeSettings } = painting;
  const { share, isEmpty } = useMaskState(document);
  const words = text.paint.mask;
  return (
    <section className={styles.section}>
      <h2>
        {words.title}
        <span className={styles.aside}>{isEmpty ? words.empty : words.share(percentOf(share))}</span>
      </h2>
      <div className={styles.property}>
        <span>{words.colour}</span>
        <span className={styles.swatches}>
          {MASK_COLOURS.map((colour) => (
            <button
              key={colour}
              type="button"
              className={styles.swatch}
              ref={cssVariables({ "--swatch": `rgb(${COLOUR_VALUES[colour].join(" ")})` })}
              aria-label={words.colours[colour]}
              aria-pressed={settings.colour === colour}
              title={words.colours[colour]}
              onClick={() => changeSettings({ colour })}
            />
          ))}
        </span>
      </div>
      <PropertySlider
        label={words.opacity}
        unit="%"
        value={settings.opacity}
        minimum={0}
        maximum={100}
        onChange={(opacity) => changeSettings({ opacity })}
      />
      <RectangleFields document={document}>
        <Button size="s" onClick={() => invertWholeMask(document)}>
          <Icon of={Contrast} size="s" />
          {words.invert}
        </Button>
        <span className={styles.space} />
        <Button size="s" kind="quiet" disabled={isEmpty} onClick={() => clearMask(document)}>
          {words.clear}
        </Button>
      </RectangleFields>
    </section>
  );
}
