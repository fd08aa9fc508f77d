// The navigation at the left: 208 px with words, 56 px with icons below 1280 px, absent on phones.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { identityQuery } from "../api/queries.ts";
import { BrandMark } from "../parts/brand-mark.tsx";
import { Icon } from "../parts/icon.tsx";
import { openPalette } from "../parts/palette-signal.ts";
import { text } from "../text/text.ts";
import { AccountFooter } from "./account-footer.tsx";
import { CREATE, isOperator, MANAGE, OPERATE } from "./destinations.ts";
import { MonthSpend } from "./month-spend.tsx";
import styles from "./navigation.module.css";
import { NavigationLink } from "./navigation-link.tsx";
import { OpenRunCount } from "./open-run-count.tsx";

export function Navigation() {
  const { data: identity } = useQuery(identityQuery);
  return (
    <nav className={styles.navigation} aria-label={text.navigation.main}>
      <Link to="/" className={styles.brand} aria-label={brandName(identity?.tenant.name)}>
        <BrandMark />
        <span className={styles.words}>{text.product}</span>{" "}
        <span className={styles.workspace}>{identity?.tenant.name}</span>
      </Link>
      <button
        type="button"
        className={styles.search}
        onClick={openPalette}
        aria-label={`${text.navigation.search} ${text.navigation.searchKeys}`}
      >
        <Icon of={Search} size="s" />
        <span className={styles.words}>{text.navigation.search}</span> <kbd>{text.navigation.searchKeys}</kbd>
      </button>
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
      <MonthSpend identity={identity} />
      <AccountFooter identity={identity} />
    </nav>
  );
}

/** Contains the words that are visible, so that a person who speaks to the browser can say them. */
const brandName = (tenant: string | undefined) => [text.product, tenant].filter(Boolean).join(" ");
