/** Language data by the scripts that `osd` of tesseract tells apart, the most common language first. */
const languagesOf: Readonly<Record<string, readonly string[]>> = {
  Arabic: ['ara', 'fas', 'urd', 'pus', 'uig', 'snd', 'script/Arabic'],
  Bengali: ['ben', 'asm', 'script/Bengali'],
  Cyrillic: [
    ...['rus', 'ukr', 'bul', 'srp', 'bel', 'mkd', 'kaz', 'kir', 'mon', 'tat', 'tgk', 'aze_cyrl', 'uzb_cyrl'],
    'script/Cyrillic',
  ],
  Devanagari: ['hin', 'mar', 'nep', 'san', 'script/Devanagari'],
  Greek: ['ell', 'grc', 'script/Greek'],
  Han: ['chi_sim', 'chi_tra', 'jpn', 'script/HanS', 'script/HanT'],
  Hebrew: ['heb', 'yid', 'script/Hebrew'],
  Japanese: ['jpn', 'script/Japanese'],
  Kannada: ['kan', 'script/Kannada'],
  Korean: ['kor', 'script/Hangul'],
  Latin: ['eng', 'script/Latin'],
  Malayalam: ['mal', 'script/Malayalam'],
  Tamil: ['tam', 'script/Tamil'],
  Telugu: ['tel', 'script/Telugu'],
  Thai: ['tha', 'script/Thai'],
};
const otherNames: Readonly<Record<string, string>> = {
  Fraktur: 'Latin',
  Hangul: 'Korean',
  Hiragana: 'Japanese',
  Katakana: 'Japanese',
};
/** Languages that are added for a script. Each takes its time. */
const mostAdded = 2;
/** Below this confidence of `osd`, a page may as well be in another script, or a photograph. */
const leastConfidence = 1;

/** What `osd` finds on a page. */
export interface Layout {
  readonly isTurned: boolean;
  /** The name that `languagesFor` knows, or another. */
  readonly script: string;
  readonly isCertain: boolean;
}

/** Reads what tesseract prints about the orientation and the script of a page. */
export function readLayout(printed: string): Layout {
  const facts: Readonly<Record<string, string>> = Object.fromEntries(
    printed.split('\n').map((line) => line.split(': ')),
  );
  const { Script: script = '', 'Script confidence': confidence, Rotate: degrees = 0 } = facts;
  return {
    isTurned: Number(degrees) !== 0,
    script: otherNames[script] ?? script,
    isCertain: Number(confidence) >= leastConfidence,
  };
}

/**
 * Returns the configured languages if one of them is written in the script, and otherwise adds languages that are installed.
 * @returns undefined when none is installed
 */
export function languagesFor(
  script: string,
  { configured, installed }: { readonly configured: readonly string[]; readonly installed: readonly string[] },
): readonly string[] | undefined {
  const known = languagesOf[script];
  if (known === undefined || configured.some((language) => isWrittenIn(language, script))) return configured;
  const added = known.filter((language) => installed.includes(language)).slice(0, mostAdded);
  return added.length === 0 ? undefined : [...added, ...configured];
}

/** A language of no listed script is Latin. */
function isWrittenIn(language: string, script: string): boolean {
  const name = language.replace(/_vert$/, '');
  const scripts = Object.keys(languagesOf).filter((each) => languagesOf[each]?.includes(name));
  return scripts.length === 0 ? script === 'Latin' : scripts.includes(script);
}

/** The language data to recommend for a script. */
export function usualLanguage(script: string): string {
  return languagesOf[script]?.[0] ?? '';
}
