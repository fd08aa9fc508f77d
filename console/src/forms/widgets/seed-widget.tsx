// A seed: empty for a random one, or a number that the dice can draw.
import { Dice5 } from "lucide-react";
import { Button } from "../../parts/button.tsx";
import fieldStyles from "../../parts/field.module.css";
import { Icon } from "../../parts/icon.tsx";
import { text } from "../../text/text.ts";
import { drawSeed } from "../draw-seed.ts";
import { parseNumber } from "../number-range.ts";
import { asText, controlAttributes, type WidgetProps } from "./widget-props.ts";

export function SeedWidget(props: WidgetProps) {
  const { value, onChange } = props;
  return (
    <div className={fieldStyles.row}>
      <input
        {...controlAttributes(props)}
        className={fieldStyles.input}
        inputMode="numeric"
        placeholder={text.form.random}
        value={asText(value)}
        onChange={(event) => onChange(parseNumber(event.target.value.replaceAll(/\D/g, "")))}
      />
      <Button isIconOnly label={text.form.newSeed} onClick={() => onChange(drawSeed())}>
        <Icon of={Dice5} />
      </Button>
    </div>
  );
}
