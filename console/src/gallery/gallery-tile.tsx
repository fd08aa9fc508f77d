// A tile of the gallery: the image, a box to select it, a star, and its prompt and download while it is pointed at.

import type { Run } from "@gesso/client";
import { Link } from "@tanstack/react-router";
import { Check, Download, Star } from "lucide-react";
import { type FocusEvent, memo, useState } from "react";
import { classNames } from "../parts/class-names.ts";
import { cssVariables } from "../parts/css-variables.ts";
import { Icon } from "../parts/icon.tsx";
import { findPrompt } from "../parts/run-prompt.ts";
import { TileImage } from "../parts/tile-image.tsx";
import { text } from "../text/text.ts";
import type { PlacedTile } from "./gallery-rows.ts";
import styles from "./gallery-tile.module.css";

export type TileActions = { onSelect(run: Run): void; onStar(run: Run): void; onFocus(key: string): void };

type GalleryTileProps = { tile: PlacedTile; isCurrent: boolean; isSelected: boolean; actions: TileActions };

const promptOf = (run: Run): string => findPrompt(run) ?? text.run.noPrompt;

/** On a touch screen nothing is pointed at, so the box to select is always there. */
const HAS_HOVER = globalThis.matchMedia?.("(hover: hover)").matches ?? true;

/** The controls of a tile are most of its elements, so they exist only while it is pointed at or has the focus. */
export const GalleryTile = memo(function GalleryTile({ tile, isCurrent, isSelected, actions }: GalleryTileProps) {
  const { key, run, index, width } = tile;
  const [isActive, setIsActive] = useState(false);
  const output = run.outputs.filter(({ role }) => role === "result")[index];
  const prompt = promptOf(run);
  const tabIndex = isCurrent ? 0 : -1;
  if (!output) return null;
  const leave = ({ currentTarget, relatedTarget }: FocusEvent) => {
    if (!currentTarget.contains(relatedTarget)) setIsActive(false);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the controls that appear are buttons and links
    <div
      ref={cssVariables({ "--w": `${width}px` })}
      className={classNames(styles.tile, isSelected && styles.selected)}
      data-tile={key}
      onPointerEnter={() => setIsActive(true)}
      onPointerLeave={({ currentTarget }) => setIsActive(currentTarget.contains(document.activeElement))}
      onFocus={() => setIsActive(true)}
      onBlur={leave}
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
      {(isActive || isSelected || run.starred || isCurrent || !HAS_HOVER) && (
        <TileControls run={run} url={output.url} {...{ prompt, tabIndex, isSelected, actions }} />
      )}
    </div>
  );
});

type TileControlsProps = {
  run: Run;
  url: string;
  prompt: string;
  tabIndex: number;
  isSelected: boolean;
  actions: TileActions;
};

function TileControls({ run, url, prompt, tabIndex, isSelected, actions }: TileControlsProps) {
  return (
    <>
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
          href={url}
          download={run.run_id}
          aria-label={text.gallery.download(prompt)}
          tabIndex={tabIndex}
        >
          <Icon of={Download} />
        </a>
      </div>
    </>
  );
}
