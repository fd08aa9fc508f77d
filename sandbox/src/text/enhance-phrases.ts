// The phrases that may be added to a prompt, by language and kind, with the signs by which a prompt already has them.

export type PhraseKind = "style" | "light" | "composition" | "quality" | "motion" | "preserve";
export type Phrase = { text: string; signs: readonly string[] };
export type Language = "en" | "de" | "fr" | "es";

type PhraseCatalogue = Record<PhraseKind, { signs: RegExp; list: readonly Phrase[] }>;

const phrase = (text: string, ...signs: string[]): Phrase => ({ text, signs });

export const chooseLanguage = (language: string | undefined): Language => {
  const start = (language ?? "en").slice(0, 2).toLowerCase();
  return start === "de" || start === "fr" || start === "es" ? start : "en";
};

/** Matches nothing: for kinds of which a prompt can hardly have too much. */
const never = /(?!)/;

const english: PhraseCatalogue = {
  style: {
    signs: /photo|painting|illustration|render|style|drawing|sketch|anime|cartoon|watercolou?r/,
    list: [
      phrase("fine art photograph"),
      phrase("richly detailed illustration", "detailed"),
      phrase("painterly digital art"),
      phrase("cinematic video still", "cinematic"),
    ],
  },
  light: {
    signs: /light|lit\b|sunset|dawn|dusk|golden hour|backlit|glow|neon/,
    list: [
      phrase("soft morning light"),
      phrase("warm golden hour light"),
      phrase("gentle rim light against a darker background"),
      phrase("diffuse light from a large window"),
    ],
  },
  composition: {
    signs: /close-?up|wide shot|wide angle|framed|composition|rule of thirds|foreground|bird'?s eye|portrait of/,
    list: [
      phrase("composed on the rule of thirds"),
      phrase("wide shot with a clear foreground"),
      phrase("shallow depth of field", "depth of field", "bokeh"),
      phrase("balanced composition with quiet space around the subject"),
    ],
  },
  quality: {
    signs: /\b(?:4k|8k|hd)\b|high resolution|sharp|intricate/,
    list: [phrase("sharp focus"), phrase("intricate textures"), phrase("high resolution")],
  },
  motion: {
    signs: /camera|pan\b|zoom|tracking|dolly|slow motion|drift/,
    list: [phrase("slow camera push-in"), phrase("gentle camera drift to the right"), phrase("steady tracking shot")],
  },
  preserve: {
    signs: /\bkeep\b|unchanged|preserve/,
    list: [phrase("keep everything else unchanged"), phrase("keep the composition and the identity of the subject")],
  },
};

const german: PhraseCatalogue = {
  style: {
    signs: /foto|gemälde|illustration|stil|zeichnung|skizze|aquarell|anime/,
    list: [
      phrase("künstlerische Fotografie"),
      phrase("detailreiche Illustration", "detail"),
      phrase("wie ein Standbild aus einem Film"),
    ],
  },
  light: {
    signs: /licht|beleuchtet|sonnenuntergang|dämmerung|neon|glühen/,
    list: [phrase("weiches Morgenlicht"), phrase("warmes Licht der goldenen Stunde"), phrase("sanftes Streiflicht")],
  },
  composition: {
    signs: /nahaufnahme|totale|weitwinkel|komposition|vordergrund|drittel/,
    list: [
      phrase("nach der Drittelregel komponiert"),
      phrase("Totale mit klarem Vordergrund"),
      phrase("geringe Schärfentiefe", "tiefe"),
    ],
  },
  quality: {
    signs: /\b(?:4k|8k)\b|scharf|hochauflösend/,
    list: [phrase("gestochen scharf"), phrase("feine Texturen")],
  },
  motion: {
    signs: /kamera|zoom|schwenk|zeitlupe/,
    list: [phrase("langsame Kamerafahrt nach vorn"), phrase("ruhiger Schwenk nach rechts")],
  },
  preserve: { signs: /unverändert|behalte|bewahre/, list: [phrase("alles andere bleibt unverändert")] },
};

const french: PhraseCatalogue = {
  style: {
    signs: /photo|peinture|illustration|style|dessin|croquis|aquarelle|anime/,
    list: [phrase("photographie d'art"), phrase("illustration riche en détails", "détail"), phrase("image de video")],
  },
  light: {
    signs: /lumi[eè]re|éclair|coucher de soleil|aube|néon/,
    list: [phrase("douce lumière du matin"), phrase("lumière chaude de l'heure dorée"), phrase("léger contre-jour")],
  },
  composition: {
    signs: /gros plan|plan large|grand angle|composition|premier plan|tiers/,
    list: [
      phrase("composition selon la règle des tiers"),
      phrase("plan large avec un premier plan net"),
      phrase("faible profondeur de champ", "profondeur"),
    ],
  },
  quality: {
    signs: /\b(?:4k|8k)\b|net\b|haute résolution/,
    list: [phrase("mise au point nette"), phrase("textures fines")],
  },
  motion: {
    signs: /caméra|zoom|travelling|ralenti/,
    list: [phrase("lent travelling avant"), phrase("léger mouvement de caméra vers la droite")],
  },
  preserve: { signs: /inchangé|garde|préserve/, list: [phrase("sans rien changer d'autre")] },
};

const spanish: PhraseCatalogue = {
  style: {
    signs: /foto|pintura|ilustración|estilo|dibujo|boceto|acuarela|anime/,
    list: [
      phrase("fotografía artística"),
      phrase("ilustración llena de detalles", "detalle"),
      phrase("fotograma de película"),
    ],
  },
  light: {
    signs: /\bluz|iluminad|atardecer|amanecer|neón/,
    list: [phrase("suave luz de la mañana"), phrase("cálida luz de la hora dorada"), phrase("delicado contraluz")],
  },
  composition: {
    signs: /primer plano|plano general|gran angular|composición|tercios/,
    list: [
      phrase("composición según la regla de los tercios"),
      phrase("plano general con un primer término claro"),
      phrase("poca profundidad de campo", "profundidad"),
    ],
  },
  quality: { signs: /\b(?:4k|8k)\b|nítid|alta resolución/, list: [phrase("enfoque nítido"), phrase("texturas finas")] },
  motion: {
    signs: /cámara|zoom|travelling|lenta/,
    list: [phrase("lento avance de la cámara"), phrase("suave movimiento de cámara a la derecha")],
  },
  preserve: { signs: never, list: [phrase("sin cambiar nada más")] },
};

export const phrases: Record<Language, PhraseCatalogue> = { en: english, de: german, fr: french, es: spanish };

/** What the usual names of styles mean in words; another style is taken as it is written. */
export const styles: Record<Language, Record<string, string>> = {
  en: {
    photographic: "natural photograph with true colours",
    realistic: "lifelike photograph with fine detail",
    cinematic: "cinematic still with deep contrast",
    anime: "anime illustration with clean lines",
    fiction: "storybook illustration",
    "digital-art": "polished digital art",
    watercolor: "loose watercolour on textured paper",
    watercolour: "loose watercolour on textured paper",
    minimal: "minimal style with few colours",
  },
  de: {
    photographic: "natürliche Fotografie",
    realistic: "lebensnahe Fotografie",
    cinematic: "filmisches Bild mit tiefen Kontrasten",
    anime: "Anime-Illustration mit klaren Linien",
  },
  fr: {
    photographic: "photographie naturelle",
    realistic: "photographie réaliste",
    cinematic: "image de cinéma aux contrastes profonds",
    anime: "illustration d'anime aux lignes nettes",
  },
  es: {
    photographic: "fotografía natural",
    realistic: "fotografía realista",
    cinematic: "imagen de cine con contrastes profundos",
    anime: "ilustración de anime de líneas limpias",
  },
};
