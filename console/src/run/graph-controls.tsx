// Zoom of the graph, and what its lines mean.
import { Maximize, Minus, Plus } from "lucide-react";
import { Button } from "../parts/button.tsx";
import { classNames } from "../parts/class-names.ts";
import { Icon } from "../parts/icon.tsx";
import { useShortcuts } from "../parts/use-shortcuts.ts";
import { text } from "../text/text.ts";
import styles from "./tree-graph.module.css";

const words = text.runPage.tree;

type GraphControlsProps = { percent: number; onZoomIn(): void; onZoomOut(): void; onFit(): void };

export function GraphControls({ percent, onZoomIn, onZoomOut, onFit }: GraphControlsProps) {
  useShortcuts({ f: onFit });
  return (
    <div className={styles.controls}>
      <Button kind="quiet" size="s" isIconOnly label={words.zoomOut} onClick={onZoomOut}>
        <Icon of={Minus} size="s" />
      </Button>
      <span className={styles.percent}>{percent} %</span>
      <Button kind="quiet" size="s" isIconOnly label={words.zoomIn} onClick={onZoomIn}>
        <Icon of={Plus} size="s" />
      </Button>
      <Button kind="quiet" size="s" isIconOnly label={words.fit} aria-keyshortcuts="F" onClick={onFit}>
        <Icon of={Maximize} size="s" />
      </Button>
    </div>
  );
}

const LINES = [
  { name: words.parentEdge, className: undefined },
  { name: words.referenceEdge, className: styles.reference },
  { name: words.pathEdge, className: styles.onPath },
];

export function GraphLegend() {
  return (
    <ul className={styles.legend}>
      {LINES.map(({ name, className }) => (
        <li key={name}>
          <svg width="22" height="6" aria-hidden="true">
            <path className={classNames(styles.edge, className)} d="M0 3h22" />
          </svg>
          {name}
        </li>
      ))}
    </ul>
  );
}
