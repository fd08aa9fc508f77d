// What a dashboard consists of: panels with a unit and the expressions that they draw.
export type Query = { expr: string; legend?: string };
export type PanelUnit = "short" | "s" | "percentunit" | "currencyUSD" | "reqps" | "bytes";
export type Panel = { title: string; unit: PanelUnit; queries: Query[] };
export type Dashboard = { id: string; title: string; panels: Panel[] };

export const panel = (title: string, unit: PanelUnit, ...queries: Query[]): Panel => ({ title, unit, queries });
