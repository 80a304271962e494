import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { en } from './en.ts';
import { codes, fields } from './en-codes.ts';
import { type CodedError, type Codes, explainError } from './explain-error.ts';

export type MessageKey = keyof typeof en;
export type Messages = Readonly<Record<MessageKey, string>>;
export const languages = { en: 'English', zh: '中文' } as const;
export type LanguageCode = keyof typeof languages;

/** All that a language says. */
export interface Words {
  readonly messages: Messages;
  /** The texts for errors of the service, by their codes. Other codes keep their English message. */
  readonly codes: Codes;
  /** The texts for invalid fields of a request, by their names. */
  readonly fields: Codes;
}

type Parameters = Readonly<Record<string, string | number>>;
export type Translate = (key: MessageKey, parameters?: Parameters) => string;

interface Language {
  readonly code: LanguageCode;
  readonly choose: (code: LanguageCode) => void;
  readonly t: Translate;
  /** Returns an error of the service in the words of the console if its code is known, otherwise in English. */
  readonly explain: (said: CodedError) => string;
}

const english: Words = { messages: en, codes, fields };

const storageKey = 'quartermaster-language';
const LanguageContext = createContext<Language | null>(null);

function firstLanguage(): LanguageCode {
  const stored = localStorage.getItem(storageKey) ?? navigator.language;
  return stored.startsWith('zh') ? 'zh' : 'en';
}

/** Puts parameters into a text: `{name}`, and `{name|one|many}`, the singular or plural form for its number. */
export function fill(text: string, parameters: Parameters): string {
  return text.replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (whole, name: string, one?: string, many?: string) => {
    const value = parameters[name];
    if (one === undefined || many === undefined) return String(value ?? whole);
    return Number(value) === 1 ? one : many;
  });
}

/** Texts in the chosen language. Chinese is loaded when it is chosen. */
export function LanguageProvider({ children }: { children: ReactNode }) {
  const [code, setCode] = useState(firstLanguage);
  const [words, setWords] = useState<Words | null>(code === 'en' ? english : null);
  useEffect(() => {
    document.documentElement.lang = code;
    let left = false;
    const load = code === 'en' ? Promise.resolve(english) : import('./zh.ts').then(({ zh }) => zh);
    load.then((loaded) => {
      if (!left) setWords(loaded);
    });
    return () => {
      left = true;
    };
  }, [code]);
  const language = useMemo(() => {
    if (words === null) return null;
    const choose = (wanted: LanguageCode) => {
      localStorage.setItem(storageKey, wanted);
      setCode(wanted);
    };
    const explain = (said: CodedError) => explainError(said, words);
    const t: Translate = (key, parameters = {}) => fill(words.messages[key], parameters);
    return { code, choose, explain, t };
  }, [code, words]);
  return language === null ? null : <LanguageContext value={language}>{children}</LanguageContext>;
}

export function useLanguage(): Language {
  const language = useContext(LanguageContext);
  if (language === null) throw new Error('useLanguage outside of LanguageProvider');
  return language;
}
