import { imports as english } from '../../language/en-imports.ts';
import { useLanguage } from '../../language/language.tsx';
import { imports as chinese } from '../../language/zh-imports.ts';

export type TextKey = keyof typeof english;

/** The texts that only this page has, beside those of all pages. */
export function useTexts() {
  const { t, code } = useLanguage();
  const texts = code === 'zh' ? chinese : english;
  return { t, code, own: (key: TextKey): string => texts[key] };
}
