import { useDeferredValue, useState } from 'react';
import { useBundles, useFoundPlugins } from '../../api/catalogue.ts';
import { Failure } from '../../components/failure.tsx';
import { useLanguage } from '../../language/language.tsx';
import { NameChoice } from './name-choice.tsx';

export interface ToolChoiceProps {
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  readonly isMissing: boolean;
}

/** Bundles and plugins to check. */
export function ToolChoice({ chosen, onChange, isMissing }: ToolChoiceProps) {
  const { t } = useLanguage();
  const [text, setText] = useState('');
  const words = useDeferredValue(text.trim());
  const bundles = useBundles();
  const plugins = useFoundPlugins(words);
  const titles = new Map(chosen.map((name) => [name, name]));
  for (const { bundle_id, name } of bundles.data ?? []) {
    const isFound = `${bundle_id} ${name}`.toLowerCase().includes(words.toLowerCase());
    if (isFound || titles.has(bundle_id)) titles.set(bundle_id, name);
  }
  for (const { bundle_id, plugin_id, name } of plugins.data ?? []) titles.set(`${bundle_id}/${plugin_id}`, name);
  const error = bundles.error ?? plugins.error;
  return (
    <NameChoice
      label={t('settings.tools')}
      hint={t('settings.toolsHint')}
      searchLabel={t('settings.toolSearch')}
      none={t('catalogue.none')}
      error={isMissing ? t('settings.toolMissing') : null}
      failure={error === null ? null : <Failure error={error} onRetry={() => void bundles.refetch()} />}
      text={text}
      onSearch={setText}
      chosen={chosen}
      onChange={onChange}
      titles={titles}
    />
  );
}
