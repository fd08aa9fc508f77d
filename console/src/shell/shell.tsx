// The frame of every page but Paint: navigation, page and tray. Panes scroll, the page never does.
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { Ellipsis } from "lucide-react";
import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { identityQuery } from "../api/queries.ts";
import { Icon } from "../parts/icon.tsx";
import menuStyles from "../parts/menu.module.css";
import { text } from "../text/text.ts";
import { Tray } from "../tray/tray.tsx";
import { type Destination, isOperator, OPERATE, PHONE, PHONE_MORE } from "./destinations.ts";
import { Navigation } from "./navigation.tsx";
import styles from "./shell.module.css";

export function Shell() {
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#content">
        {text.navigation.skip}
      </a>
      <Navigation />
      <main id="content" className={styles.main} tabIndex={-1}>
        <Outlet />
      </main>
      <Tray />
      <TabBar />
    </div>
  );
}

/** The navigation of phones: four pages and a menu of the others, at the lower edge. */
function TabBar() {
  const { data: identity } = useQuery(identityQuery);
  return (
    <nav className={styles.bar} aria-label={text.navigation.phone}>
      {PHONE.map(({ to, label, icon }) => (
        <Link key={to} to={to} className={styles.tab} activeOptions={{ exact: to === "/", includeSearch: false }}>
          <Icon of={icon} size="l" />
          {label}
        </Link>
      ))}
      <MoreMenu destinations={[...PHONE_MORE, ...(isOperator(identity) ? OPERATE : [])]} />
    </nav>
  );
}

/** The pages that do not fit into the bar of a phone. */
function MoreMenu({ destinations }: { destinations: Destination[] }) {
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
