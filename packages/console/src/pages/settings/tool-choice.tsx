import { Checkbox, Stack, Text, TextInput } from '@mantine/core';
import { useDeferredValue, useState } from 'react';
import { useBundles, useFoundPlugins } from '../../api/catalogue.ts';
import { Failure } from '../../components/failure.tsx';
import { Icon } from '../../components/icons.tsx';
import { useLanguage } from '../../language/language.tsx';
import classes from './settings.module.css';

export interface ToolChoiceProps {
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  readonly isMissing: boolean;
}

/** Bundles and plugins to check, filtered by words. Checked ones stay in the list. */
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
    <Checkbox.Group
      label={t('settings.tools')}
      description={t('settings.toolsHint')}
      value={[...chosen]}
      onChange={onChange}
      error={isMissing ? t('settings.toolMissing') : null}
    >
      <TextInput
        mt="xs"
        aria-label={t('settings.toolSearch')}
        placeholder={t('settings.toolSearch')}
        leftSection={<Icon name="search" size={16} />}
        value={text}
        maxLength={200}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {error === null ? null : <Failure error={error} onRetry={() => void bundles.refetch()} />}
      <Stack gap="xs" mt="xs" className={classes.choices} role="group" aria-label={t('settings.tools')} tabIndex={0}>
        {[...titles].map(([name, title]) => (
          <Checkbox key={name} value={name} label={title === name ? name : `${title} (${name})`} />
        ))}
        {titles.size === 0 ? <Text size="sm">{t('catalogue.none')}</Text> : null}
      </Stack>
    </Checkbox.Group>
  );
}
