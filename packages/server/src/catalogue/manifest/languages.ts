import type { LocalisedText } from '@quartermaster/plugin-kit';

/** The language every text has. */
export const fallbackLanguage = 'en';

/** A language name as manifests and `lang` write it: `en`, `zh`, `pt-BR`. */
export const languageName = /^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/;

/** Finds the language to answer in: the one asked for, else its parent (`zh-CN` → `zh`), else English. */
export type ResolveLanguage = (asked: string | undefined) => string;

/** `known` bounds what is ever prepared: whatever is asked for, the answer is one of these. */
export function createResolveLanguage(known: Iterable<string>): ResolveLanguage {
  const byLowerCase = new Map([fallbackLanguage, ...known].map((language) => [language.toLowerCase(), language]));
  return (asked) => {
    let name = (asked ?? fallbackLanguage).slice(0, 64).toLowerCase().replaceAll('_', '-');
    while (name !== '') {
      const found = byLowerCase.get(name);
      if (found !== undefined) return found;
      name = name.slice(0, Math.max(0, name.lastIndexOf('-')));
    }
    return fallbackLanguage;
  };
}

export function inLanguage(text: LocalisedText, language: string): string {
  if (typeof text === 'string') return text;
  // The other languages are additional members of the manifest, which its type does not name.
  const texts: Readonly<Record<string, string>> = text;
  return (Object.hasOwn(texts, language) ? texts[language] : undefined) ?? text.en;
}

export function languagesOf(...texts: readonly LocalisedText[]): string[] {
  return texts.flatMap((text) => (typeof text === 'string' ? [] : Object.keys(text)));
}
