// The pages that do not fit into the bar of a phone.
import { useNavigate } from "@tanstack/react-router";
import { Ellipsis } from "lucide-react";
import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { Icon } from "../parts/icon.tsx";
import menuStyles from "../parts/menu.module.css";
import { text } from "../text/text.ts";
import type { Destination } from "./destinations.ts";
import styles from "./tab-bar.module.css";

export function MoreMenu({ destinations }: { destinations: Destination[] }) {
  const navigate = useNavigate();
  return (
    <MenuTrigger>
      <Button className={styles.tab ?? ""}>
        <Icon of={Ellipsis} size="l" />
        {text.navigation.more}
      </Button>
      <Popover className={menuStyles.popover ?? ""} placement="top end">
        <Menu className={menuStyles.menu ?? ""} aria-label={text.navigation.more}>
          {destinations.map(({ to, label, icon }) => (
            <MenuItem key={to} className={menuStyles.item ?? ""} onAction={() => void navigate({ to })}>
              <Icon of={icon} />
              {label}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
