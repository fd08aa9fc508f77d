// The form before a model is imported: what it is for, and how an operator adds the first one.
import type { ImportedModel } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { PackagePlus, Plus } from "lucide-react";
import { useState } from "react";
import { identityQuery } from "../api/queries.ts";
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { Icon } from "../parts/icon.tsx";
import { isOperator } from "../shell/destinations.ts";
import { text } from "../text/text.ts";
import { AddModelDialog } from "./add-model-dialog.tsx";
import styles from "./any-model.module.css";

const words = text.anyModel;

export function NoModels({ onAdded }: { onAdded(name: string): void }) {
  const { data: identity } = useQuery(identityQuery);
  const mayAdd = isOperator(identity);
  return (
    <div className={styles.empty}>
      <EmptyState icon={PackagePlus} title={words.emptyTitle} action={mayAdd && <AddModel onAdded={onAdded} />}>
        {words.empty}
      </EmptyState>
      <p className={styles.ask}>{mayAdd ? words.emptyByCommand : words.emptyAsk}</p>
      <div className={styles.command}>
        <code>{words.emptyCommand}</code>
        <CopyButton value={words.emptyCommand} label={text.common.copy} />
      </div>
    </div>
  );
}

/** For operators, the button that opens the dialog. */
export function AddModel({ onAdded, isQuiet = false }: { onAdded(name: string): void; isQuiet?: boolean }) {
  const [isOpen, setIsOpen] = useState(false);
  const added = ({ name }: ImportedModel) => {
    setIsOpen(false);
    onAdded(name);
  };
  return (
    <>
      <Button kind={isQuiet ? "quiet" : "primary"} size={isQuiet ? "s" : "m"} onClick={() => setIsOpen(true)}>
        <Icon of={Plus} size={isQuiet ? "s" : "m"} />
        {words.add}
      </Button>
      {isOpen && <AddModelDialog onAdded={added} onClose={() => setIsOpen(false)} />}
    </>
  );
}
