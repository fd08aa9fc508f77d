// An aspect ratio, chosen by its shape. Pressing the chosen one again removes it. Where the contract takes any ratio,
// it can also be written.
import { Ellipsis } from "lucide-react";
import { useState } from "react";
import { cssVariables } from "../../parts/css-variables.ts";
import fieldStyles from "../../parts/field.module.css";
import { Icon } from "../../parts/icon.tsx";
import { text } from "../../text/text.ts";
import { COMMON_RATIOS, ratioShape } from "./ratio-shape.ts";
import { asText, controlAttributes, type WidgetProps } from "./widget-props.ts";
import styles from "./widgets.module.css";

export function RatioWidget(props: WidgetProps) {
  const { field, state, value, onChange } = props;
  const known = state.options ?? field.options;
  const ratios = (known ?? COMMON_RATIOS).map(String);
  const isOther = value !== undefined && !ratios.includes(String(value));
  const [isWriting, setIsWriting] = useState(isOther);
  const choose = (ratio: string) => {
    setIsWriting(false);
    onChange(value === ratio ? undefined : ratio);
  };
  return (
    <>
      <fieldset className={styles.ratios} aria-label={field.label}>
        {ratios.map((ratio) => (
          <RatioButton key={ratio} ratio={ratio} isChosen={value === ratio} onChoose={() => choose(ratio)} />
        ))}
        {!known && (
          <button
            type="button"
            className={styles.ratio}
            aria-pressed={isOther}
            aria-expanded={isWriting}
            onClick={() => setIsWriting(!isWriting)}
          >
            <Icon of={Ellipsis} size="s" />
            {text.form.otherRatio}
          </button>
        )}
      </fieldset>
      {!known && isWriting && (
        <input
          {...controlAttributes(props)}
          className={fieldStyles.input}
          value={asText(value)}
          placeholder="5:4"
          aria-label={field.label}
          autoComplete="off"
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </>
  );
}

function RatioButton({ ratio, isChosen, onChoose }: { ratio: string; isChosen: boolean; onChoose(): void }) {
  const { width, height } = ratioShape(ratio);
  return (
    <button type="button" className={styles.ratio} aria-pressed={isChosen} onClick={onChoose}>
      <i ref={cssVariables({ "--w": `${width}px`, "--h": `${height}px` })} />
      {ratio}
    </button>
  );
}
