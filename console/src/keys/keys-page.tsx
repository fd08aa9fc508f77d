// Keys: the API keys of the tenant and the sessions of the signed-in member.
import { Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { TopBar } from "../shell/top-bar.tsx";
import { text } from "../text/text.ts";
import { type KeyDialog, KeyDialogs } from "./key-dialogs.tsx";
import { KeyList } from "./key-list.tsx";
import styles from "./keys-page.module.css";
import { SessionList } from "./session-list.tsx";

export function KeysPage() {
  const [dialog, setDialog] = useState<KeyDialog>();
  return (
    <>
      <TopBar title={text.navigation.keys}>
        <span className={styles.end}>
          <Button kind="primary" onClick={() => setDialog({ kind: "create" })}>
            <Icon of={Plus} />
            {text.keys.create}
          </Button>
        </span>
      </TopBar>
      <div className={styles.body}>
        <KeyList onAction={setDialog} />
        <SessionList />
      </div>
      {dialog && <KeyDialogs dialog={dialog} onClose={() => setDialog(undefined)} onChange={setDialog} />}
    </>
  );
}
