// Undo, redo and saving the mask as a file.
import { Download, Redo2, Undo2 } from "lucide-react";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import type { MaskDocument } from "./mask-document.ts";
import { encodeMaskPng } from "./mask-png.ts";
import styles from "./paint-page.module.css";
import { useMaskState } from "./use-mask-state.ts";

type MaskBarActionsProps = { document: MaskDocument; fileName: string };

export function MaskBarActions({ document: mask, fileName }: MaskBarActionsProps) {
  const { canUndo, canRedo } = useMaskState(mask);
  return (
    <>
      <Button kind="quiet" isIconOnly label={text.paint.undo} disabled={!canUndo} onClick={mask.undo}>
        <Icon of={Undo2} />
      </Button>
      <Button kind="quiet" isIconOnly label={text.paint.redo} disabled={!canRedo} onClick={mask.redo}>
        <Icon of={Redo2} />
      </Button>
      <Button label={text.paint.saveMask} onClick={() => void saveMask(mask, fileName)}>
        <Icon of={Download} />
        <span className={styles.words}>{text.paint.saveMask}</span>
      </Button>
    </>
  );
}

async function saveMask({ mask }: MaskDocument, fileName: string): Promise<void> {
  const url = URL.createObjectURL(await encodeMaskPng(mask));
  const link = document.createElement("a");
  link.href = url;
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(url);
}
