// The line below the stage: tool, position, size, the keys that matter, and the zoom.
import { ChevronDown } from "lucide-react";
import type { RefObject } from "react";
import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { buttonClass } from "../parts/button-class.ts";
import { Icon } from "../parts/icon.tsx";
import menuStyles from "../parts/menu.module.css";
import { text } from "../text/text.ts";
import styles from "./status-bar.module.css";
import type { ToolName } from "./tools.ts";
import type { StageView } from "./use-stage-view.ts";
import { ZOOM_STEPS } from "./view.ts";

type StatusBarProps = {
  stage: StageView;
  size: { width: number; height: number };
  tool?: ToolName;
  /** Gets the position of the pointer as text, without a render for each movement. */
  positionRef?: RefObject<HTMLSpanElement | null>;
};

const FIT = "fit";
const percentOf = (zoom: number) => `${Math.round(zoom * 100)} %`;

export function StatusBar({ stage, size, tool, positionRef }: StatusBarProps) {
  const words = text.paint.status;
  return (
    <footer className={styles.status}>
      {tool && <span className={styles.tool}>{text.paint.tools[tool]}</span>}
      {positionRef && <span ref={positionRef} className={styles.position} />}
      <span>
        {size.width} × {size.height}
      </span>
      <span className={styles.space} />
      {tool && (
        <span className={styles.keys}>
          <span>
            <kbd>[</kbd> <kbd>]</kbd> {words.size}
          </span>
          <span>
            <kbd>X</kbd> {words.eraser}
          </span>
          <span>
            <kbd>{words.space}</kbd> {words.move}
          </span>
        </span>
      )}
      <MenuTrigger>
        <Button
          className={buttonClass({ kind: "quiet", size: "s" })}
          aria-label={`${words.zoom}: ${percentOf(stage.view.zoom)}`}
        >
          <span className={styles.zoom}>{percentOf(stage.view.zoom)}</span>
          <Icon of={ChevronDown} size="s" />
        </Button>
        <Popover className={menuStyles.popover ?? ""} placement="top end">
          <Menu
            className={menuStyles.menu ?? ""}
            aria-label={words.zoom}
            onAction={(key) => (key === FIT ? stage.fit() : stage.zoomTo(Number(key)))}
          >
            <MenuItem id={FIT} className={menuStyles.item ?? ""}>
              {words.fit}
            </MenuItem>
            {ZOOM_STEPS.map((zoom) => (
              <MenuItem key={zoom} id={zoom} className={menuStyles.item ?? ""}>
                {percentOf(zoom)}
              </MenuItem>
            ))}
          </Menu>
        </Popover>
      </MenuTrigger>
    </footer>
  );
}
