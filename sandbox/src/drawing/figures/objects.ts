// Everyday objects that a prompt can name.
import { darker, type FigureDrawing, lighter } from "./drawing.ts";

const wheel = (x: number, y: number, radius: number): string => {
  const spokes = Array.from(
    { length: 6 },
    (_, index) => `<path d="M${x - radius} ${y}H${x + radius}" transform="rotate(${index * 30} ${x} ${y})"/>`,
  ).join("");
  return `<g stroke="#cfd4dc" stroke-width=".7" opacity=".8">${spokes}</g><circle cx="${x}" cy="${y}" r="${radius}" stroke="#20232c" stroke-width="4"/><circle cx="${x}" cy="${y}" r="${radius - 2.6}" stroke="#aeb6c2" stroke-width="1.3"/>`;
};

export const bicycle: FigureDrawing = ({ accent }) =>
  [
    `<g fill="none" stroke-linecap="round" stroke-linejoin="round">`,
    wheel(22, 78, 20),
    wheel(80, 78, 20),
    `<path d="M22 78L39 50H68L49 79Z" stroke="${accent}" stroke-width="4.6"/>`,
    `<path d="M39 50L49 79M80 78L67 44" stroke="${accent}" stroke-width="4.6"/>`,
    `<path d="M39 50L36 41M67 44L65 37" stroke="${accent}" stroke-width="3.6"/>`,
    `<path d="M28 40H44" stroke="#3a2a22" stroke-width="5.5"/>`,
    `<path d="M60 35L68 36C76 37 79 41 77 46" stroke="#2a2d36" stroke-width="3.6"/>`,
    `<circle cx="49" cy="79" r="5.5" fill="#2a2d36" stroke="#cfd4dc" stroke-width="1.2"/><path d="M49 79L56 88M52 89H61" stroke="#2a2d36" stroke-width="2.8"/>`,
    "</g>",
  ].join("");

export const car: FigureDrawing = ({ accent }) =>
  [
    `<ellipse cx="50" cy="98" rx="48" ry="4" fill="#05070d" opacity=".3"/>`,
    `<path d="M2 86V72C2 66 8 63 20 61L33 43C35 40 38 38 43 38H68C72 38 75 40 78 43L88 59C95 61 99 65 99 72V86Z" fill="${accent}"/>`,
    `<path d="M2 76H99V86H2Z" fill="${darker(accent, 0.25)}"/>`,
    `<path d="M27 60L38 45H52V60ZM56 45H67C70 45 72 46 74 49L81 60H56Z" fill="#bfe0ef"/><path d="M40 45L30 60H37L46 45Z" fill="#ffffff" opacity=".5"/>`,
    `<path d="M44 66H51" stroke="${darker(accent, 0.45)}" stroke-width="2" stroke-linecap="round"/>`,
    `<rect x="2" y="67" width="6" height="6" rx="2" fill="#fff0b8"/><rect x="93" y="67" width="6" height="6" rx="2" fill="#d8362e"/>`,
    [24, 77]
      .map(
        (x) =>
          `<circle cx="${x}" cy="87" r="12" fill="#1c1e26"/><circle cx="${x}" cy="87" r="6.5" fill="#c4cad4"/><circle cx="${x}" cy="87" r="2.4" fill="#4a4f5c"/>`,
      )
      .join(""),
  ].join("");

export const mug: FigureDrawing = ({ accent }) =>
  [
    `<ellipse cx="48" cy="99" rx="36" ry="4" fill="#05070d" opacity=".25"/>`,
    `<path d="M70 50C94 46 94 84 68 80" fill="none" stroke="${darker(accent, 0.12)}" stroke-width="8" stroke-linecap="round"/>`,
    `<path d="M20 38H74V82C74 94 68 100 58 100H36C26 100 20 94 20 82Z" fill="${accent}"/>`,
    `<path d="M58 38H74V82C74 94 68 100 58 100C62 92 62 60 58 38Z" fill="${darker(accent, 0.2)}" opacity=".6"/>`,
    `<ellipse cx="47" cy="38" rx="27" ry="6.5" fill="${lighter(accent, 0.35)}"/><ellipse cx="47" cy="38.8" rx="22.5" ry="4.7" fill="#4a2c1a"/>`,
    `<path d="M28 50V84" stroke="#ffffff" stroke-width="4" stroke-linecap="round" opacity=".35"/>`,
    `<path d="M36 28C30 20 42 16 36 6M50 28C44 20 56 14 50 2M64 28C58 20 70 16 64 8" fill="none" stroke="#ffffff" stroke-width="2.6" stroke-linecap="round" opacity=".65"/>`,
  ].join("");

/** The product on a table: a bottle with a label. */
export const bottle: FigureDrawing = ({ accent, light }) =>
  [
    `<ellipse cx="50" cy="99" rx="32" ry="4" fill="#05070d" opacity=".28"/>`,
    `<rect x="40" y="2" width="20" height="17" rx="3" fill="#2a2d36"/><rect x="44" y="19" width="12" height="9" fill="#d9b45a"/>`,
    `<rect x="24" y="28" width="52" height="72" rx="9" fill="${lighter(accent, 0.25)}"/>`,
    `<path d="M28 50H72V90C72 94 69 96 65 96H35C31 96 28 94 28 90Z" fill="${accent}"/>`,
    `<path d="M62 30H67C72 30 74 33 74 37V91C74 96 71 98 66 98H62Z" fill="${darker(accent, 0.25)}" opacity=".4"/>`,
    `<rect x="34" y="56" width="32" height="26" rx="2" fill="${lighter(light, 0.5)}"/><path d="M39 64H61M43 70H57M46 76H54" stroke="#3a3d46" stroke-width="1.8" stroke-linecap="round"/>`,
    `<path d="M31 36V90" stroke="#ffffff" stroke-width="3.6" stroke-linecap="round" opacity=".55"/>`,
  ].join("");

/** A burger on a plate. */
export const food: FigureDrawing = () => {
  const sesame = [
    [38, 52],
    [50, 47],
    [62, 52],
    [44, 58],
    [57, 58],
  ].map(([x, y]) => `<ellipse cx="${x}" cy="${y}" rx="2.2" ry="1.3" fill="#fbe6b8"/>`);
  return [
    `<ellipse cx="50" cy="95" rx="50" ry="7" fill="#dfe3ea"/><ellipse cx="50" cy="93.5" rx="50" ry="6" fill="#ffffff"/><ellipse cx="50" cy="93.5" rx="38" ry="4" fill="#e9edf2"/>`,
    `<path d="M22 84H78C78 92 72 94 66 94H34C28 94 22 92 22 84Z" fill="#c98337"/>`,
    `<rect x="19" y="76" width="62" height="9" rx="4.5" fill="#5e3320"/>`,
    `<path d="M20 74H80L70 82L62 75L50 84L42 75L30 80Z" fill="#f4b933"/>`,
    `<path d="M17 72Q22 66 28 71Q34 66 40 71Q46 66 52 71Q58 66 64 71Q70 66 76 71Q82 67 84 72Q82 77 76 75Q70 78 64 75Q58 78 52 75Q46 78 40 75Q34 78 28 75Q20 78 17 72Z" fill="#5fa443"/>`,
    `<rect x="21" y="63.5" width="58" height="6" rx="3" fill="#cf3f2f"/>`,
    `<path d="M20 64C20 40 80 40 80 64Z" fill="#dd9a45"/><path d="M28 54C34 46 46 44 54 46" fill="none" stroke="#f3c583" stroke-width="3" stroke-linecap="round"/>`,
    sesame.join(""),
  ].join("");
};

export const chair: FigureDrawing = ({ accent }) =>
  [
    `<ellipse cx="50" cy="99" rx="36" ry="3.5" fill="#05070d" opacity=".25"/>`,
    `<g stroke="#6b4a34" stroke-linecap="round"><path d="M36 66V92M66 66V92" stroke-width="4" opacity=".7"/><path d="M26 66L22 98M74 66L78 98" stroke-width="5"/><path d="M31 40V62M69 40V62" stroke-width="4.5"/></g>`,
    `<rect x="25" y="4" width="50" height="42" rx="11" fill="${accent}"/><rect x="31" y="10" width="38" height="30" rx="7" fill="${lighter(accent, 0.18)}"/>`,
    `<path d="M25 57H75C80 57 83 69 78 69H22C17 69 20 57 25 57Z" fill="${accent}"/><path d="M19 65C20 71 24 71 26 71H74C78 71 80 70 81 65Z" fill="${darker(accent, 0.25)}"/>`,
  ].join("");
