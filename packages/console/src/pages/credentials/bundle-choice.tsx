import { NativeSelect } from '@mantine/core';
import type { Bundle } from '@quartermaster/contract';
import { useLanguage } from '../../language/language.tsx';
import { connectionWords } from './connection-words.ts';

export interface BundleChoiceProps {
  readonly bundles: readonly Bundle[];
  readonly value: string;
  readonly onChange: (bundleId: string) => void;
}

export function takesCredentials({ credentials_schema: schema }: Bundle): boolean {
  return Object.keys(schema.properties ?? {}).length > 0;
}

/** The id of the bundle where there is no choice, otherwise ''. */
export function onlyOne(bundles: readonly Bundle[]): string {
  return bundles.length === 1 ? (bundles[0]?.bundle_id ?? '') : '';
}

/** Nothing where there is no choice. */
export function BundleChoice({ bundles, value, onChange }: BundleChoiceProps) {
  const { code } = useLanguage();
  const words = connectionWords[code];
  if (onlyOne(bundles) !== '') return null;
  const choices = bundles.map((one) => ({ value: one.bundle_id, label: one.name }));
  return (
    <NativeSelect
      label={words.bundle}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      data={[{ value: '', label: words.choose }, ...choices]}
    />
  );
}
