// The navigation at the left: 208 px with words, 56 px with icons below 1280 px, absent on phones.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { identityQuery } from "../api/queries.ts";
import { BrandMark } from "../parts/brand-mark.tsx";
import { text } from "../text/text.ts";
import { AccountFooter } from "./account-footer.tsx";
import { CREATE, isOperator, MANAGE, OPERATE } from "./destinations.ts";
import styles from "./navigation.module.css";
import { NavigationLink } from "./navigation-link.tsx";
import { OpenRunCount } from "./open-run-count.tsx";

export function Navigation() {
  const { data: identity } = useQuery(identityQuery);
  return (
    <nav className={styles.navigation} aria-label={text.navigation.main}>
      <Link to="/" className={styles.brand} aria-label={text.product}>
        <BrandMark />
        <span className={styles.words}>{text.product}</span>
        <span className={styles.workspace}>{identity?.tenant.name}</span>
      </Link>
      {CREATE.map((each) => (
        <NavigationLink key={each.to} destination={each}>
          {each.to === "/runs" && <OpenRunCount />}
        </NavigationLink>
      ))}
      <div className={styles.gap} />
      {MANAGE.map((each) => (
        <NavigationLink key={each.to} destination={each} />
      ))}
      {isOperator(identity) && (
        <>
          <p className={styles.group}>{text.navigation.operator}</p>
          {OPERATE.map((each) => (
            <NavigationLink key={each.to} destination={each} />
          ))}
        </>
      )}
      <AccountFooter identity={identity} />
    </nav>
  );
}
