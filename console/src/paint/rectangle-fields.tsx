// A rectangle by numbers: the way to a mask without a pointer. The fields show where the mask is until they are edited.
import { SquareDashed } from "lucide-react";
import { type FormEvent, type ReactNode, useId, useState } from "react";
import { Button } from "../parts/button.tsx";
import { classNames } from "../parts/class-names.ts";
import fieldStyles from "../parts/field.module.css";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import type { PixelRectangle } from "./mask.ts";
import { addRectangle } from "./mask-actions.ts";
import type { MaskDocument } from "./mask-document.ts";
import styles from "./panel.module.css";
import { useMaskState } from "./use-mask-state.ts";

const SIDES = ["x", "y", "width", "height"] as const;
type Side = (typeof SIDES)[number];
type TypedRectangle = Record<Side, string>;

type RectangleFieldsProps = {
  document: MaskDocument;
  /** Further actions, beside the button that adds the rectangle. */
  children?: ReactNode;
};

export function RectangleFields({ document, children }: RectangleFieldsProps) {
  const id = useId();
  const { bounds } = useMaskState(document);
  const [typed, setTyped] = useState<TypedRectangle>();
  const shown = typed ?? toTyped(bounds);
  const { width, height } = document.mask;
  const limits: Record<Side, number> = { x: width, y: height, width, height };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const rectangle = parseTyped(shown);
    if (!rectangle) return;
    addRectangle(document, rectangle);
    setTyped(undefined);
  };
  return (
    <form className={styles.rectangle} onSubmit={submit} noValidate>
      <div className={styles.quad}>
        {SIDES.map((side) => (
          <label key={side} htmlFor={`${id}-${side}`}>
            {text.paint.mask[side]}
            <input
              id={`${id}-${side}`}
              type="number"
              inputMode="numeric"
              className={classNames(fieldStyles.input, styles.number)}
              min={0}
              max={limits[side]}
              value={shown[side]}
              onChange={({ target }) => setTyped({ ...shown, [side]: target.value })}
            />
          </label>
        ))}
      </div>
      <div className={styles.row}>
        <Button size="s" type="submit" disabled={parseTyped(shown) === undefined}>
          <Icon of={SquareDashed} size="s" />
          {text.paint.mask.rectangle}
        </Button>
        {children}
      </div>
    </form>
  );
}

const toTyped = (bounds: PixelRectangle | undefined): TypedRectangle => ({
  x: String(bounds?.x ?? ""),
  y: String(bounds?.y ?? ""),
  width: String(bounds?.width ?? ""),
  height: String(bounds?.height ?? ""),
});

function parseTyped({ x, y, width, height }: TypedRectangle): PixelRectangle | undefined {
  const numbers = [x, y, width, height].map((each) => (each.trim() === "" ? Number.NaN : Number(each)));
  const [left, top, across, down] = numbers as [number, number, number, number];
  if (!numbers.every(Number.isFinite) || across <= 0 || down <= 0) return undefined;
  return { x: left, y: top, width: across, height: down };
}
