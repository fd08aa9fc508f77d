// One layer in the list: show or hide it, what it is and where it lies.
import type { Layers } from "@gesso/client";
import { Eye, EyeOff } from "lucide-react";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import styles from "./panel.module.css";

export type RunLayer = Layers["data"]["layers"][number];

type LayerRowProps = { layer: RunLayer; isShown: boolean; onToggle(): void; onTakeAsMask(): void };

export function LayerRow({ layer, isShown, onToggle, onTakeAsMask }: LayerRowProps) {
  const { name, kind, image_url, x, y, width, height } = layer;
  const words = text.paint.layers;
  return (
    <li className={styles.layer}>
      <span className={styles.layerImage}>{image_url && <img src={image_url} alt="" loading="lazy" />}</span>
      <span className={styles.layerName}>
        {name}
        <small>
          {kind} · {words.place(width, height, x, y)}
        </small>
        {kind === "mask" && (
          <Button size="s" onClick={onTakeAsMask}>
            {words.useAsMask}
          </Button>
        )}
      </span>
      <Button
        kind="quiet"
        isIconOnly
        label={isShown ? words.hide(name) : words.show(name)}
        aria-pressed={isShown}
        onClick={onToggle}
      >
        <Icon of={isShown ? Eye : EyeOff} />
      </Button>
    </li>
  );
}
