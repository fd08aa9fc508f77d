// The navigation of phones: four pages and a menu of the others, at the lower edge.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { identityQuery } from "../api/queries.ts";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import { isOperator, OPERATE, PHONE, PHONE_MORE } from "./destinations.ts";
import { MoreMenu } from "./more-menu.tsx";
import styles from "./tab-bar.module.css";

export function TabBar() {
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
