// The panel of a comparison: what differs, how many pixels changed, and which run to keep.
import type { Run } from "@gesso/client";
import { findMaskReference } from "../pixels/mask-reference.ts";
import { OutsideMask } from "../pixels/outside-mask.tsx";
import { text } from "../text/text.ts";
import styles from "./compare-page.module.css";
import { imageOfRun } from "./compare-stage.tsx";
import { InputDifferences } from "./input-differences.tsx";
import { KeepButtons } from "./keep-buttons.tsx";
import { PixelsChanged } from "./pixels-changed.tsx";

export function ComparePanel({ first, second }: { first: Run; second: Run }) {
  return (
    <aside className={styles.panel}>
      <div className={styles.scroll}>
        <ChangedPixels first={first} second={second} />
        <InputDifferences first={first} second={second} />
      </div>
      <KeepButtons first={first} second={second} />
    </aside>
  );
}

/** A masked edit and its source are measured outside the mask, in either order. */
function ChangedPixels({ first, second }: { first: Run; second: Run }) {
  const [a, b] = [imageOfRun(first)?.url, imageOfRun(second)?.url];
  if (!a || !b) return null;
  const [edit, original, result] = second.parent_run_id === first.run_id ? [second, a, b] : [first, b, a];
  const isPair = second.parent_run_id === first.run_id || first.parent_run_id === second.run_id;
  const mask = isPair ? findMaskReference(edit) : undefined;
  return (
    <div className={styles.pixels}>
      <h3>{text.compare.pixels}</h3>
      {mask ? <OutsideMask original={original} result={result} mask={mask} /> : <PixelsChanged first={a} second={b} />}
    </div>
  );
}
