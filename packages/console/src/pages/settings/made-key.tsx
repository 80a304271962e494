import { Button, Group, Stack, Text } from '@mantine/core';
import type { NewApiKey } from '@quartermaster/contract';
import { useLanguage } from '../../language/language.tsx';
import { CopyButton } from '../../pieces/copy-button.tsx';
import { Dialog } from '../../pieces/dialog.tsx';
import { Snippet } from '../../pieces/snippet.tsx';
import classes from './settings.module.css';

/** The key, this once, and a line that uses it. */
export function MadeKey({ made, onClose }: { made: NewApiKey; onClose: () => void }) {
  const { t } = useLanguage();
  return (
    <Dialog onClose={onClose} title={t('settings.madeTitle')} size="lg" closeOnClickOutside={false}>
      <Stack gap="md">
        <Text size="sm">{t('settings.madeAbout')}</Text>
        <div>
          <code className={classes.secret} data-testid="made-key">
            {made.key}
          </code>
          <Group mt="xs" gap="xs">
            <CopyButton text={made.key} what={`${t('action.copy')}: ${t('settings.madeKey')}`} />
          </Group>
        </div>
        <div>
          <Text size="sm" fw={600} mb={6}>
            {t('settings.madeTry')}
          </Text>
          <Snippet code={exampleFor(made)} label={t('settings.madeTry')} />
        </div>
        <Group justify="flex-end">
          <Button onClick={onClose}>{t('settings.madeDone')}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

/** A command that this key may run. */
function exampleFor({ key, scopes, project_id: projectId }: NewApiKey): string {
  const { origin } = window.location;
  const authorization = `-H "Authorization: Bearer ${key}"`;
  if (scopes.includes('files'))
    return `curl ${origin}/v1/files ${authorization} \\\n  -F purpose=record_file -F file=@document.pdf`;
  if (scopes.includes('collections')) return `curl ${origin}/v1/collections ${authorization}`;
  if (scopes.includes('plugins')) return `curl ${origin}/plugins/v1/bundles ${authorization}`;
  return `curl ${origin}/v1/projects/${projectId}/keys ${authorization}`;
}
