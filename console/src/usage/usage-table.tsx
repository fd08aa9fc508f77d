// The groups of the chart as a table. Its sums are those of the report.
import { formatMoney } from "../format/money.ts";
import { classNames } from "../parts/class-names.ts";
import tableStyles from "../parts/table.module.css";
import { formatCount } from "../text/count.ts";
import { text } from "../text/text.ts";
import { groupKey, type UsageGroup } from "./group-usage.ts";
import { Swatch } from "./swatch.tsx";
import styles from "./usage-page.module.css";

type UsageTableProps = { title: string; groups: readonly UsageGroup[]; names: readonly string[] };

const MICROS = 1e6;
const percent = new Intl.NumberFormat("en", { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });
const { table, number, minor } = tableStyles;

export function UsageTable({ title, groups, names }: UsageTableProps) {
  const runs = groups.reduce((sum, group) => sum + group.runs, 0);
  const micros = groups.reduce((sum, group) => sum + group.micros, 0);
  const shareOf = (group: UsageGroup) => (micros > 0 ? group.micros / micros : group.runs / runs);
  return (
    <div className={styles.scroll}>
      <table className={classNames(table, styles.groups)}>
        <thead>
          <tr>
            <th scope="col">{title}</th>
            <th scope="col" className={number}>
              {text.usage.runs}
            </th>
            <th scope="col" className={number}>
              {text.usage.perRun}
            </th>
            <th scope="col" className={number}>
              {text.usage.share}
            </th>
            <th scope="col" className={number}>
              {text.usage.spend}
            </th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group, index) => (
            <tr key={groupKey(group)}>
              <td>
                <span className={styles.name}>
                  <Swatch series={index} />
                  <span className="clip">{names[index]}</span>
                </span>
              </td>
              <td className={number}>{formatCount(group.runs)}</td>
              <td className={classNames(number, minor)}>
                {group.runs > 0 && formatMoney(Math.round(group.micros / group.runs) / MICROS)}
              </td>
              <td className={classNames(number, minor)}>{percent.format(shareOf(group) || 0)}</td>
              <td className={number}>{formatMoney(group.micros / MICROS)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td>{text.usage.total}</td>
            <td className={number}>{formatCount(runs)}</td>
            <td />
            <td />
            <td className={number}>{formatMoney(micros / MICROS)}</td>
          </tr>
        </tfoot>
      </table>
    </div>
  );
}
