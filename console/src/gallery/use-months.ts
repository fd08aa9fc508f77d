// The months of the gallery: how many runs each has, which one is in view, and jumps to another.
import { useQuery } from "@tanstack/react-query";
import { type RefObject, useCallback, useState } from "react";
import { client } from "../api/client.ts";
import { histogramFilterOf, type ListSearch } from "../run-search/list-search.ts";
import { findOldestDay } from "./gallery-pages.ts";
import type { GalleryRow } from "./gallery-rows.ts";
import { startsOf } from "./row-starts.ts";

type MonthsOptions = {
  scroller: RefObject<HTMLElement | null>;
  rows: readonly GalleryRow[];
  search: ListSearch;
  /** Shows the list from this month or day on; undefined for the newest runs. */
  onShow(at: string | undefined): void;
};

export function useMonths({ scroller, rows, search, onShow }: MonthsOptions) {
  const [current, setCurrent] = useState<string>();
  const filter = histogramFilterOf(search);
  const { data: months = [] } = useQuery({
    queryKey: ["months", filter],
    queryFn: async () => (await client.runs.histogram(filter)).data,
  });
  const onDate = useCallback((date: string) => setCurrent(monthOf(date)), []);
  const onJump = (month: string) => {
    if (!scrollToMonth(scroller.current, rows, month)) onShow(month === months[0]?.month ? undefined : month);
  };
  const onOldest = () => {
    const oldest = months.at(-1)?.month;
    if (oldest) void findOldestDay(search, oldest).then(onShow);
  };
  return { onDate, slider: { months, current, onJump, onOldest } };
}

const monthOf = (date: string): string => {
  const time = new Date(date);
  return `${time.getFullYear()}-${String(time.getMonth() + 1).padStart(2, "0")}`;
};

/** False if the month has not been loaded from its newest run on. */
function scrollToMonth(scroller: HTMLElement | null, rows: readonly GalleryRow[], month: string): boolean {
  const index = rows.findIndex(({ date }) => monthOf(date) === month);
  if (index < 1 || !scroller) return false;
  scroller.scrollTop = startsOf(rows)[index]!;
  return true;
}
