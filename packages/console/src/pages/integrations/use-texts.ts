import type { BundlePlan } from '@quartermaster/contract';
import { imports as english } from '../../language/en-imports.ts';
import { useLanguage } from '../../language/language.tsx';
import { imports as chinese, risks } from '../../language/zh-imports.ts';

export type TextKey = keyof typeof english;

/** The texts that only this page has, beside those of all pages. */
export function useTexts() {
  const { t, code } = useLanguage();
  const texts = code === 'zh' ? chinese : english;
  return {
    t,
    code,
    own: (key: TextKey): string => texts[key],
    riskOf: ({ kind, risk }: Pick<BundlePlan, 'kind' | 'risk'>) => (code === 'zh' ? risks[kind] : risk),
    /** The service has an English text where no licence is stated. */
    licenceOf: ({ licence }: Pick<BundlePlan, 'licence'>) =>
      licence === english['imports.noLicence'] ? texts['imports.noLicence'] : licence,
  };
}
