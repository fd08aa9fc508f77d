// The pages of the navigation in their order, and those that a phone shows in its bar.
import type { Identity } from "@gesso/client";
import {
  Box,
  Building2,
  ChartNoAxesColumn,
  ImagePlus,
  KeyRound,
  LayoutDashboard,
  List,
  type LucideIcon,
  Server,
  Users,
  Webhook,
} from "lucide-react";
import { text } from "../text/text.ts";

type Path =
  | "/"
  | "/gallery"
  | "/runs"
  | "/models"
  | "/usage"
  | "/webhooks"
  | "/keys"
  | "/people"
  | "/system"
  | "/tenants";
export type Destination = { to: Path; label: string; icon: LucideIcon };

const words = text.navigation;

export const CREATE: Destination[] = [
  { to: "/", label: words.make, icon: ImagePlus },
  { to: "/gallery", label: words.gallery, icon: LayoutDashboard },
  { to: "/runs", label: words.runs, icon: List },
];
export const MANAGE: Destination[] = [
  { to: "/models", label: words.models, icon: Box },
  { to: "/usage", label: words.usage, icon: ChartNoAxesColumn },
  { to: "/webhooks", label: words.webhooks, icon: Webhook },
  { to: "/keys", label: words.keys, icon: KeyRound },
  { to: "/people", label: words.people, icon: Users },
];
export const OPERATE: Destination[] = [
  { to: "/system", label: words.system, icon: Server },
  { to: "/tenants", label: words.tenants, icon: Building2 },
];
export const PHONE: Destination[] = [...CREATE, ...MANAGE.filter(({ to }) => to === "/usage")];
export const PHONE_MORE: Destination[] = MANAGE.filter(({ to }) => to !== "/usage");

/** The scope of the operator is granted by name; `*` does not include it. */
export const isOperator = (identity: Pick<Identity, "credential"> | undefined): boolean =>
  identity?.credential.scopes.some((scope) => scope.startsWith("tenants:")) ?? false;
