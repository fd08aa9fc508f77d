// Tenants, for operators: create, suspend and credit tenants, and see their numbers. Never their images.
import { GessoError } from "@gesso/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ArrowLeft, Building2, Plus, ShieldX } from "lucide-react";
import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { buttonClass } from "../parts/button-class.ts";
import { classNames } from "../parts/class-names.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Icon } from "../parts/icon.tsx";
import { TopBar } from "../shell/top-bar.tsx";
import { text } from "../text/text.ts";
import { type TenantDialog, TenantDialogs } from "./tenant-dialogs.tsx";
import { TenantPanel } from "./tenant-panel.tsx";
import { tenantsQuery } from "./tenant-queries.ts";
import { TenantTable } from "./tenant-table.tsx";
import styles from "./tenants-page.module.css";

const route = getRouteApi("/shell/tenants");
const words = text.tenants;
const FORBIDDEN = 403;

export function TenantsPage() {
  const { tenant: selected } = route.useSearch();
  const [dialog, setDialog] = useState<TenantDialog>();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(tenantsQuery);
  const tenants = data?.pages.flatMap((page) => page.data) ?? [];
  const isForbidden = GessoError.isInstance(error) && error.status === FORBIDDEN;
  if (isForbidden) {
    return (
      <>
        <TopBar title={text.navigation.tenants} />
        <EmptyState icon={ShieldX} title={text.system.operatorOnly}>
          {text.system.operatorOnlyNext}
        </EmptyState>
      </>
    );
  }
  return (
    <>
      <TopBar title={text.navigation.tenants}>
        <span className={styles.grow} />
        <Button onClick={() => setDialog({ kind: "create" })}>
          <Icon of={Plus} />
          {words.add}
        </Button>
      </TopBar>
      <div className={classNames(styles.columns, selected && styles.open)}>
        <section className={styles.list} aria-label={text.navigation.tenants} aria-busy={!data && !error}>
          {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
          {tenants.length > 0 && <TenantTable tenants={tenants} selected={selected} />}
          {tenants.length === 1 && <p className={styles.hint}>{words.onlyOne}</p>}
          {hasNextPage && (
            <div className={styles.more}>
              <Button aria-disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
                {words.more}
              </Button>
            </div>
          )}
        </section>
        <aside className={styles.panel}>
          {selected ? (
            <>
              <Link to="/tenants" className={classNames(buttonClass({ kind: "quiet", size: "s" }), styles.back)}>
                <Icon of={ArrowLeft} size="s" />
                {words.back}
              </Link>
              <TenantPanel key={selected} tenantId={selected} onDialog={setDialog} />
            </>
          ) : (
            <EmptyState icon={Building2} title={words.pickTitle}>
              {words.pick}
            </EmptyState>
          )}
        </aside>
      </div>
      {dialog && <TenantDialogs dialog={dialog} onChange={setDialog} />}
    </>
  );
}
