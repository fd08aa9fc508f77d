// The frame of every page but Paint: navigation, page and tray. Panes scroll, the page never does.
import { Outlet } from "@tanstack/react-router";
import { text } from "../text/text.ts";
import { Tray } from "../tray/tray.tsx";
import { Navigation } from "./navigation.tsx";
import styles from "./shell.module.css";
import { TabBar } from "./tab-bar.tsx";

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
