import type { LocalisedText } from '@quartermaster/plugin-kit';

/** The language that every text has. */
export const fallbackLanguage = 'en';

/** The form of a language name in manifests and in `lang`: `en`, `zh`, `pt-BR`. */
export const languageName = /^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/;

/** Selects the language of an answer: the requested one, otherwise its parent (`zh-CN` → `zh`), otherwise English. */
export type ResolveLanguage = (requested: string | undefined) => string;

/** @param known the only languages that are ever prepared, whatever is requested */
export function createResolveLanguage(known: Iterable<string>): ResolveLanguage {
  const byLowerCase = new Map([fallbackLanguage, ...known].map((language) => [language.toLowerCase(), language]));
  return (requested) => {
    let name = (requested ?? fallbackLanguage).slice(0, 64).toLowerCase().replaceAll('_', '-');
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
  // The other languages are additional members, which the type does not name.
  const texts: Readonly<Record<string, string>> = text;
  return (Object.hasOwn(texts, language) ? texts[language] : undefined) ?? text.en;
}

export function languagesOf(...texts: readonly LocalisedText[]): string[] {
  return texts.flatMap((text) => (typeof text === 'string' ? [] : Object.keys(text)));
}
