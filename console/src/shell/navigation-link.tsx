// A page in the navigation. Where only the icon fits, the name is its tooltip and its accessible name.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Icon } from "../parts/icon.tsx";
import type { Destination } from "./destinations.ts";
import styles from "./navigation.module.css";

type NavigationLinkProps = { destination: Destination; children?: ReactNode };

export function NavigationLink({ destination: { to, label, icon }, children }: NavigationLinkProps) {
  return (
    <Link to={to} className={styles.link} title={label} activeOptions={{ exact: to === "/", includeSearch: false }}>
      <Icon of={icon} />
      <span className={styles.words}>{label}</span>
      {children}
    </Link>
  );
}
