// Rows of a table that is loading, in their final height.
import styles from "./data-table.module.css";

type SkeletonRowsProps = { columns: number; rows?: number };

export function SkeletonRows({ columns, rows = 3 }: SkeletonRowsProps) {
  return Array.from({ length: rows }, (_row, row) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: rows without data have no identity
    <tr key={row}>
      <td colSpan={columns}>
        <div className={styles.skeleton} />
      </td>
    </tr>
  ));
}
