import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { en } from './en.ts';

export type MessageKey = keyof typeof en;
export type Messages = Readonly<Record<MessageKey, string>>;
export const languages = { en: 'English', zh: '中文' } as const;
export type LanguageCode = keyof typeof languages;

type Parameters = Readonly<Record<string, string | number>>;
export type Translate = (key: MessageKey, parameters?: Parameters) => string;

interface Language {
  readonly code: LanguageCode;
  readonly choose: (code: LanguageCode) => void;
  readonly t: Translate;
}

const storageKey = 'quartermaster-language';
const LanguageContext = createContext<Language | null>(null);

function firstLanguage(): LanguageCode {
  const kept = localStorage.getItem(storageKey) ?? navigator.language;
  return kept.startsWith('zh') ? 'zh' : 'en';
}

/** `{name}` is the parameter, `{name|one|many}` a word that goes with its number. */
function translator(messages: Messages): Translate {
  return (key, parameters = {}) =>
    messages[key].replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (whole, name: string, one?: string, many?: string) => {
      const value = parameters[name];
      if (one === undefined || many === undefined) return String(value ?? whole);
      return Number(value) === 1 ? one : many;
    });
}

/** Texts in the chosen language. Chinese is loaded when it is chosen. */
export function LanguageProvider({ children }: { children: ReactNode }) {
  const [code, setCode] = useState(firstLanguage);
  const [messages, setMessages] = useState<Messages | null>(code === 'en' ? en : null);
  useEffect(() => {
    document.documentElement.lang = code;
    let left = false;
    const load = code === 'en' ? Promise.resolve({ messages: en as Messages }) : import('./zh.ts');
    load.then((loaded) => {
      if (!left) setMessages(loaded.messages);
    });
    return () => {
      left = true;
    };
  }, [code]);
  const language = useMemo(() => {
    if (messages === null) return null;
    const choose = (wanted: LanguageCode) => {
      localStorage.setItem(storageKey, wanted);
      setCode(wanted);
    };
    return { code, choose, t: translator(messages) };
  }, [code, messages]);
  return language === null ? null : <LanguageContext value={language}>{children}</LanguageContext>;
}

export function useLanguage(): Language {
  const language = useContext(LanguageContext);
  if (language === null) throw new Error('useLanguage outside of LanguageProvider');
  return language;
}
