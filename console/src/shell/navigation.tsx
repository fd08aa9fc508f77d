// The navigation at the left: 208 px with words, 56 px with icons below 1280 px, absent on phones.
import type { Identity } from "@gesso/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { LogOut, Monitor, Moon, Search, Sun } from "lucide-react";
import { type ReactNode, useState } from "react";
import { identityQuery, monthSpendQuery, sessionQuery } from "../api/queries.ts";
import { signOut } from "../api/session.ts";
import { formatMoney } from "../format/money.ts";
import { BrandMark } from "../parts/brand-mark.tsx";
import { Button } from "../parts/button.tsx";
import { cssVariables } from "../parts/css-variables.ts";
import { Icon } from "../parts/icon.tsx";
import { openPalette } from "../parts/palette-signal.ts";
import { text } from "../text/text.ts";
import { openRuns } from "../tray/tray-runs.ts";
import { useTrayRuns } from "../tray/use-tray-runs.ts";
import { CREATE, type Destination, isOperator, MANAGE, OPERATE } from "./destinations.ts";
import styles from "./navigation.module.css";
import { nextTheme, readStoredTheme, storeTheme } from "./theme.ts";

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

/** The signed-in user, the theme switch and sign-out. */
function AccountFooter({ identity }: { identity: Identity | undefined }) {
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

const ICONS = { system: Monitor, light: Sun, dark: Moon };

/** Switches between the system's theme, light and dark. */
function ThemeSwitch() {
  const [theme, setTheme] = useState(readStoredTheme);
  const change = () => {
    const next = nextTheme(theme);
    storeTheme(next);
    setTheme(next);
  };
  return (
    <Button kind="quiet" size="s" isIconOnly label={text.account.theme(text.account.themes[theme])} onClick={change}>
      <Icon of={ICONS[theme]} size="s" />
    </Button>
  );
}

/** What the tenant spent this month, and how much of its limit that is. */
function MonthSpend({ identity }: { identity: Identity | undefined }) {
  const { data: spent } = useQuery(monthSpendQuery);
  const limit = identity?.tenant.limits.spend_per_month ?? null;
  const month = new Date().toLocaleString("en", { month: "long", timeZone: "UTC" });
  const share = limit && spent !== undefined ? Math.min(100, (spent / limit) * 100) : 0;
  return (
    <Link to="/usage" className={styles.spend} hidden={spent === undefined}>
      <span className={styles.spendLine}>
        <span>{month}</span>
        <span>
          <b>{formatMoney(spent ?? 0)}</b> {limit !== null && text.navigation.spentOf(formatMoney(limit))}
        </span>
      </span>
      {limit !== null && (
        <span className={styles.meter}>
          <i ref={cssVariables({ "--v": `${share}%` })} />
        </span>
      )}
    </Link>
  );
}

type NavigationLinkProps = { destination: Destination; children?: ReactNode };

/** A page in the navigation. Where only the icon fits, the name is its tooltip and its accessible name. */
function NavigationLink({ destination: { to, label, icon }, children }: NavigationLinkProps) {
  return (
    <Link to={to} className={styles.link} title={label} activeOptions={{ exact: to === "/", includeSearch: false }}>
      <Icon of={icon} />
      <span className={styles.words}>{label}</span>
      {children}
    </Link>
  );
}

/** How many runs are open, beside Runs in the navigation. */
function OpenRunCount() {
  const count = openRuns(useTrayRuns()).length;
  if (count === 0) return null;
  return (
    <span className={styles.count}>
      <span className={styles.dot} />
      {count}
    </span>
  );
}
