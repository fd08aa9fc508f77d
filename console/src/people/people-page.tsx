// People: the members of the tenant with their roles, and the log of what they changed.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Segments } from "../parts/segments.tsx";
import { TopBar } from "../shell/top-bar.tsx";
import { text } from "../text/text.ts";
import { AuditLog } from "./audit-log.tsx";
import { type MemberDialog, MemberDialogs } from "./member-dialogs.tsx";
import { MemberList } from "./member-list.tsx";
import styles from "./people-page.module.css";

export function PeoplePage() {
  const { tab = "members" } = useSearch({ from: "/shell/people" });
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<MemberDialog>();
  const choose = (id: string) =>
    void navigate({ to: "/people", search: id === "audit" ? { tab: "audit" } : {}, replace: true });
  return (
    <>
      <TopBar title={text.navigation.people}>
        <Segments
          label={text.people.tabLabel}
          isSmall
          options={Object.entries(text.people.tabs).map(([id, label]) => ({ id, label }))}
          value={tab}
          onChange={choose}
        />
        <span className={styles.end}>
          {tab === "members" && (
            <Button kind="primary" onClick={() => setDialog({ kind: "add" })}>
              <Icon of={Plus} />
              {text.people.add}
            </Button>
          )}
        </span>
      </TopBar>
      <div className={styles.body}>{tab === "audit" ? <AuditLog /> : <MemberList onAction={setDialog} />}</div>
      {dialog && <MemberDialogs dialog={dialog} onClose={() => setDialog(undefined)} />}
    </>
  );
}
