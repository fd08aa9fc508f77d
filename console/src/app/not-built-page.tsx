// A page of the navigation that this version does not have yet.
import { Construction } from "lucide-react";
import { EmptyState } from "../parts/empty-state.tsx";
import { TopBar } from "../shell/top-bar.tsx";
import { text } from "../text/text.ts";

export function NotBuiltPage({ title }: { title: string }) {
  return (
    <>
      <TopBar title={title} />
      <EmptyState icon={Construction} title={text.pages.notBuilt} />
    </>
  );
}
