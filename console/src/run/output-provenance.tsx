// The verdict on one file, who signed it, what made it, and the runs it was made from.
import type { RunProvenance } from "@gesso/client";
import { Link } from "@tanstack/react-router";
import { Shield, ShieldAlert, ShieldCheck } from "lucide-react";
import { CopyButton } from "../parts/copy-button.tsx";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import styles from "./provenance-tab.module.css";

const words = text.runPage.provenance;

type ProvenOutput = RunProvenance["outputs"][number];
type Report = NonNullable<ProvenOutput["report"]>;
type Verdict = { icon: typeof Shield; kind: "good" | "plain" | "bad"; title: string };

export function OutputProvenance({ output, number }: { output: ProvenOutput; number: number | undefined }) {
  const { report } = output;
  if (!report) return <p className={styles.note}>{words.deleted}</p>;
  const { icon, kind, title } = judge(report);
  return (
    <section aria-label={number ? words.output(number) : words.file}>
      <p className={styles.verdict} data-kind={kind}>
        <Icon of={icon} size="s" />
        <span>
          {number !== undefined && <small>{words.output(number)}</small>}
          {title}
        </span>
      </p>
      <dl className={styles.facts}>
        {listFacts(report).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Ingredients report={report} />
      {report.manifest_hash && <CopyButton value={report.manifest_hash} label={words.copyHash} />}
    </section>
  );
}

function judge({ result, message, mark }: Report): Verdict {
  if (result === "intact") return { icon: ShieldCheck, kind: "good", title: words.signed };
  if (result === "no_manifest") return { icon: Shield, kind: "plain", title: mark ? words.marked : words.unmarked };
  // The certificate of a trial installation: the file is as it was signed, but its signer is not known.
  if (result === "untrusted_signer") return { icon: Shield, kind: "plain", title: message };
  return { icon: ShieldAlert, kind: "bad", title: message };
}

function listFacts({ signer, digital_source_type, manifests }: Report): [string, string][] {
  const own = manifests[0];
  const facts: [string, string | null | undefined][] = [
    [words.signedBy, [...new Set([signer?.name, signer?.organization])].filter(Boolean).join(", ")],
    [words.signedAt, signer?.time_stamp],
    [words.madeBy, digital_source_type && nameSourceType(digital_source_type)],
    [words.model, own?.model],
    [words.provider, own?.provider],
    [words.prompt, own?.prompt],
  ];
  return facts.flatMap(([name, value]) => (value ? [[name, value]] : []));
}

/** The IPTC vocabulary names a type by the end of a URL. */
function nameSourceType(url: string): string {
  const name = url.split("/").at(-1) ?? url;
  return words.sourceTypes[name] ?? name;
}

function Ingredients({ report }: { report: Report }) {
  const ingredients = report.manifests[0]?.ingredients ?? [];
  if (ingredients.length === 0) return null;
  return (
    <>
      <h3 className={styles.heading}>{words.ingredients}</h3>
      <ul className={styles.ingredients}>
        {ingredients.map(({ title, relationship, run_id, asset_id, result }) => (
          <li key={`${asset_id} ${relationship} ${title}`}>
            {run_id ? (
              <Link to="/runs/$runId" params={{ runId: run_id }} search={{ tab: "provenance" }}>
                {words.ofRun(run_id.slice(-8))}
              </Link>
            ) : (
              (title ?? words.otherFile)
            )}
            <small>
              {words.relationships[relationship ?? ""] ?? relationship}
              {" · "}
              {result ? (words.results[result] ?? words.ingredientDamaged) : words.noManifest}
            </small>
          </li>
        ))}
      </ul>
    </>
  );
}
