// Asks PostgreSQL for the types of a statement's parameters and columns, without running it (Parse and Describe
// messages).
import type pg from "pg";

/** `table` and `column` are the numbers of the table column it comes from; 0 for an expression. */
export type DescribedColumn = { name: string; typeId: number; table: number; column: number };
export type DescribedStatement = { parameterTypes: number[]; columns: DescribedColumn[] };

/** The part of the driver's connection that is used here; its type declarations leave it out. */
type DriverConnection = {
  parse(message: { name: string; text: string; types: number[] }): void;
  describe(message: { type: "S"; name: string }): void;
  sync(): void;
  once(event: "parameterDescription", listener: (message: { dataTypeIDs: number[] }) => void): void;
};
type RowDescription = { fields: { name: string; dataTypeID: number; tableID: number; columnID: number }[] };

export function describeStatement(client: pg.Client, text: string): Promise<DescribedStatement> {
  return new Promise((resolve, reject) => {
    let parameterTypes: number[] = [];
    let columns: DescribedColumn[] = [];
    const query = {
      submit(connection: DriverConnection) {
        connection.once("parameterDescription", (message) => {
          parameterTypes = message.dataTypeIDs;
        });
        connection.parse({ name: "", text, types: [] });
        connection.describe({ type: "S", name: "" });
        connection.sync();
      },
      handleRowDescription({ fields }: RowDescription) {
        columns = fields.map((field) => ({
          ...{ name: field.name, typeId: field.dataTypeID, table: field.tableID, column: field.columnID },
        }));
      },
      handleError: reject,
      handleReadyForQuery: () => resolve({ parameterTypes, columns }),
    };
    client.query(query as unknown as pg.Query);
  });
}
