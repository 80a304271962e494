/** Scripts that one language uses, or mostly one. Kana comes before Han, because Japanese mixes both. */
const scripts = [
  ['ja', /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ['ko', /\p{Script=Hangul}/gu],
  ['zh', /\p{Script=Han}/gu],
  ['ru', /\p{Script=Cyrillic}/gu],
  ['el', /\p{Script=Greek}/gu],
  ['he', /\p{Script=Hebrew}/gu],
  ['ar', /\p{Script=Arabic}/gu],
  ['hi', /\p{Script=Devanagari}/gu],
  ['th', /\p{Script=Thai}/gu],
  ['', /\p{Script=Latin}/gu],
] as const;

const most = 2000;
/** Japanese has at least this share of kana. */
const kana = 0.1;

/**
 * The `lang` attribute of a passage, so that screen readers choose a voice for it. The script decides. Empty: unknown, as
 * for Latin letters, which hundreds of languages use; the passage then does not count as a text in the language of the page.
 */
export function languageOfPassage(text: string): string {
  const start = text.slice(0, most);
  const counts = scripts.map(([language, pattern]) => ({ language, count: start.match(pattern)?.length ?? 0 }));
  const all = counts.reduce((sum, { count }) => sum + count, 0);
  const [japanese, ...others] = counts;
  if (japanese !== undefined && all > 0 && japanese.count / all >= kana) return japanese.language;
  const best = others.reduce((one, other) => (other.count > one.count ? other : one), { language: '', count: 0 });
  return best.language;
}
