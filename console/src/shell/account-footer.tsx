// The signed-in user, the theme switch and sign-out.
import type { Identity } from "@gesso/client";
import { useQueryClient } from "@tanstack/react-query";
import { LogOut } from "lucide-react";
import { sessionQuery } from "../api/queries.ts";
import { signOut } from "../api/session.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import styles from "./navigation.module.css";
import { ThemeSwitch } from "./theme-switch.tsx";

export function AccountFooter({ identity }: { identity: Identity | undefined }) {
  const queryClient = useQueryClient();
  const leave = async () => {
    await signOut();
    queryClient.setQueryData(sessionQuery.queryKey, null);
  };
  const name = identity?.user_id ?? "";
  return (
    <div className={styles.account}>
      <span className={styles.avatar} aria-hidden="true">
        {name.slice(0, 2).toUpperCase()}
      </span>
      <span className={styles.user}>{name}</span>
      <ThemeSwitch />
      <Button kind="quiet" size="s" isIconOnly label={text.account.signOut} onClick={() => void leave()}>
        <Icon of={LogOut} size="s" />
      </Button>
    </div>
  );
}
