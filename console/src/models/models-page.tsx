// Models: what this installation can do, with which providers and at which price, and the tenant's custom models.
import { useQuery } from "@tanstack/react-query";
import { ArrowDownWideNarrow, Plus } from "lucide-react";
import { useState } from "react";
import { catalogueQuery } from "../api/queries.ts";
import { Button } from "../parts/button.tsx";
import { classNames } from "../parts/class-names.ts";
import { Icon } from "../parts/icon.tsx";
import { Segments } from "../parts/segments.tsx";
import { TopBar } from "../shell/top-bar.tsx";
import { text } from "../text/text.ts";
import { listGroups, listProviders } from "./catalogue-facts.ts";
import { CatalogueList } from "./catalogue-list.tsx";
import { CustomModels } from "./custom-models.tsx";
import { type ModelDialog, ModelDialogs } from "./model-dialogs.tsx";
import styles from "./models-page.module.css";

type Group = keyof typeof text.models.groups;

export function ModelsPage() {
  const [group, setGroup] = useState<Group>("all");
  const [isByPrice, setIsByPrice] = useState(false);
  const [dialog, setDialog] = useState<ModelDialog>();
  const { data } = useQuery(catalogueQuery);
  const groups = ["all", ...(data ? listGroups(data) : []), "custom"] as Group[];
  const register = () => setDialog({ kind: "create" });
  return (
    <>
      <TopBar title={text.navigation.models}>
        <span className={styles.counts}>
          {data && text.models.counts(data.models.length, listProviders(data).length)}
        </span>
        <span className={styles.filter}>
          <Segments
            label={text.models.filter}
            isSmall
            options={groups.map((id) => ({ id, label: text.models.groups[id] }))}
            value={group}
            onChange={(id) => setGroup(id as Group)}
          />
        </span>
        {/* Hidden, not absent, so that the filter stays where it is. */}
        <span className={classNames(styles.sort, group === "custom" && styles.hidden)}>
          <Button kind="quiet" aria-pressed={isByPrice} onClick={() => setIsByPrice(!isByPrice)}>
            <Icon of={ArrowDownWideNarrow} />
            {text.models.sortByPrice}
          </Button>
        </span>
        <Button onClick={register}>
          <Icon of={Plus} />
          {text.models.register}
        </Button>
      </TopBar>
      <div className={styles.body}>
        {group === "custom" ? (
          <CustomModels onAction={setDialog} />
        ) : (
          <CatalogueList group={group} isByPrice={isByPrice} />
        )}
      </div>
      {dialog && (
        <ModelDialogs
          dialog={dialog}
          onClose={() => setDialog(undefined)}
          onCreated={() => {
            setDialog(undefined);
            setGroup("custom");
          }}
        />
      )}
    </>
  );
}
