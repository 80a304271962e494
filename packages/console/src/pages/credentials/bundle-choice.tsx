import { NativeSelect } from '@mantine/core';
import type { Bundle } from '@quartermaster/contract';
import { useLanguage } from '../../language/language.tsx';
import { connectionWords } from './connection-words.ts';

export interface BundleChoiceProps {
  readonly bundles: readonly Bundle[];
  readonly value: string;
  readonly onChange: (bundleId: string) => void;
}

export function BundleChoice({ bundles, value, onChange }: BundleChoiceProps) {
  const { code } = useLanguage();
  const words = connectionWords[code];
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
