// What can be done with the selected runs: compare two, star, tag, download, delete.
import type { Run } from "@gesso/client";
import { Columns2, Download, Star, Tag, Trash2, X } from "lucide-react";
import { type FormEvent, useState } from "react";
import { Button as AriaButton, Dialog, DialogTrigger, Popover } from "react-aria-components";
import { Button } from "../parts/button.tsx";
import { buttonClass } from "../parts/button-class.ts";
import fieldStyles from "../parts/field.module.css";
import { Icon } from "../parts/icon.tsx";
import menuStyles from "../parts/menu.module.css";
import { text } from "../text/text.ts";
import styles from "./selection-bar.module.css";

export type SelectionActions = {
  onCompare(): void;
  onStar(starred: boolean): void;
  onTag(tag: string): void;
  onDownload(): void;
  onDelete(): void;
  onClear(): void;
};

export function SelectionBar({ runs, actions }: { runs: readonly Run[]; actions: SelectionActions }) {
  const areStarred = runs.every(({ starred }) => starred);
  const isPair = runs.length === 2;
  return (
    <div className={styles.bar} role="toolbar" aria-label={text.gallery.selection}>
      <span className={styles.count}>{text.gallery.selected(runs.length)}</span>
      <Button
        kind="quiet"
        aria-disabled={!isPair}
        title={isPair ? undefined : text.gallery.compareTwo}
        onClick={() => isPair && actions.onCompare()}
      >
        <Icon of={Columns2} />
        <span className={styles.words}>{text.gallery.compare}</span>
      </Button>
      <Button kind="quiet" onClick={() => actions.onStar(!areStarred)}>
        <Icon of={Star} />
        <span className={styles.words}>{areStarred ? text.gallery.unstarAll : text.gallery.starAll}</span>
      </Button>
      <TagButton onTag={actions.onTag} />
      <Button kind="quiet" onClick={actions.onDownload}>
        <Icon of={Download} />
        <span className={styles.words}>{text.gallery.downloadAll}</span>
      </Button>
      <Button kind="quiet" onClick={actions.onDelete}>
        <Icon of={Trash2} />
        <span className={styles.words}>{text.gallery.delete}</span>
      </Button>
      <hr />
      <Button kind="quiet" isIconOnly label={text.gallery.clearSelection} onClick={actions.onClear}>
        <Icon of={X} />
      </Button>
    </div>
  );
}

function TagButton({ onTag }: { onTag(tag: string): void }) {
  const [tag, setTag] = useState("");
  return (
    <DialogTrigger>
      <AriaButton className={buttonClass({ kind: "quiet" })}>
        <Icon of={Tag} />
        <span className={styles.words}>{text.gallery.tag}</span>
      </AriaButton>
      <Popover className={menuStyles.popover ?? ""} placement="top">
        <Dialog className={styles.tagForm ?? ""} aria-label={text.gallery.tagName}>
          {({ close }) => (
            <form
              onSubmit={(event: FormEvent) => {
                event.preventDefault();
                if (tag.trim() === "") return;
                onTag(tag.trim());
                setTag("");
                close();
              }}
            >
              <input
                className={fieldStyles.input}
                aria-label={text.gallery.tagName}
                placeholder={text.gallery.tag}
                maxLength={50}
                value={tag}
                onChange={(event) => setTag(event.target.value)}
              />
              <Button type="submit" kind="primary">
                {text.gallery.tagAdd}
              </Button>
            </form>
          )}
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
