// The columns of the keys. Narrow screens leave some out.
import table from "../parts/data-table.module.css";
import { text } from "../text/text.ts";

export function KeyTableHead({ isOwnerShown }: { isOwnerShown: boolean }) {
  const { name, owner, scopes, limits, used, state } = text.keys.columns;
  return (
    <thead>
      <tr>
        <th scope="col">{name}</th>
        {isOwnerShown && (
          <th scope="col" className={table.second}>
            {owner}
          </th>
        )}
        <th scope="col" className={table.first}>
          {scopes}
        </th>
        <th scope="col" className={table.second}>
          {limits}
        </th>
        <th scope="col" className={table.first}>
          {used}
        </th>
        <th scope="col">{state}</th>
        <td className={table.actions} />
      </tr>
    </thead>
  );
}
