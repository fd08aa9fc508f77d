// A tile of the gallery: the image, a box to select it, a star, and its prompt and download while it is pointed at.
import type { Run } from "@gesso/client";
import { Link } from "@tanstack/react-router";
import { Check, Download, Star } from "lucide-react";
import { memo } from "react";
import { classNames } from "../parts/class-names.ts";
import { cssVariables } from "../parts/css-variables.ts";
import { Icon } from "../parts/icon.tsx";
import { TileImage } from "../parts/tile-image.tsx";
import { text } from "../text/text.ts";
import type { PlacedTile } from "./gallery-rows.ts";
import styles from "./gallery-tile.module.css";

export type TileActions = { onSelect(run: Run): void; onStar(run: Run): void; onFocus(key: string): void };

type GalleryTileProps = { tile: PlacedTile; isCurrent: boolean; isSelected: boolean; actions: TileActions };

const promptOf = ({ inputs }: Run): string =>
  typeof inputs.prompt === "string" && inputs.prompt !== "" ? inputs.prompt : text.run.noPrompt;

export const GalleryTile = memo(function GalleryTile({ tile, isCurrent, isSelected, actions }: GalleryTileProps) {
  const { key, run, index, width } = tile;
  const output = run.outputs.filter(({ role }) => role === "result")[index];
  const prompt = promptOf(run);
  const tabIndex = isCurrent ? 0 : -1;
  if (!output) return null;
  return (
    <div
      ref={cssVariables({ "--w": `${width}px` })}
      className={classNames(styles.tile, isSelected && styles.selected)}
      data-tile={key}
    >
      <Link
        to="/runs/$runId"
        params={{ runId: run.run_id }}
        preload={false}
        className={styles.open}
        aria-label={text.run.open(prompt)}
        tabIndex={tabIndex}
        onFocus={() => actions.onFocus(key)}
      >
        <TileImage output={output} alt="" shownWidth={width} />
      </Link>
      <button
        type="button"
        className={styles.select}
        aria-label={text.gallery.select(prompt)}
        aria-pressed={isSelected}
        tabIndex={tabIndex}
        onClick={() => actions.onSelect(run)}
      >
        <span>{isSelected && <Icon of={Check} size="s" />}</span>
      </button>
      <button
        type="button"
        className={classNames(styles.star, run.starred && styles.starred)}
        aria-label={text.gallery.star(prompt)}
        aria-pressed={run.starred ?? false}
        tabIndex={tabIndex}
        onClick={() => actions.onStar(run)}
      >
        <Icon of={Star} />
      </button>
      <div className={styles.foot}>
        <span className="clip">{[prompt, run.model].filter(Boolean).join(" · ")}</span>
        <a
          className={styles.download}
          href={output.url}
          download={run.run_id}
          aria-label={text.gallery.download(prompt)}
          tabIndex={tabIndex}
        >
          <Icon of={Download} />
        </a>
      </div>
    </div>
  );
});
