import { Text } from '@mantine/core';
import type { ApiKey } from '@quartermaster/contract';
import { useLanguage } from '../../language/language.tsx';

/** More names are behind a summary. */
const maxShown = 5;

/** The bundles and plugins that a key may run; nothing for a key without this limit. */
export function KeyTools({ tools }: Pick<ApiKey, 'tools'>) {
  const { t } = useLanguage();
  if (tools === null) return null;
  const names = tools.join(' · ');
  return (
    <Text size="xs" c="dimmed" component="div">
      {tools.length <= maxShown ? (
        t('settings.runsOnly', { names })
      ) : (
        <details>
          <summary>{t('settings.runsOnlySome', { count: tools.length })}</summary>
          {names}
        </details>
      )}
    </Text>
  );
}
