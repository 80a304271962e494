import { Button, Group, Stack, Text } from '@mantine/core';
import { type NewApiKey, withIncluded } from '@quartermaster/contract';
import { filesUrl } from '../../base-path.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog } from '../../components/forms/dialog.tsx';
import { Snippet } from '../../components/snippet.tsx';
import { useLanguage } from '../../language/language.tsx';
import { KeyPermissions } from './key-permissions.tsx';
import classes from './settings.module.css';

/** Shows a new key, once, with an example command. */
export function CreatedKey({ created, onClose }: { created: NewApiKey; onClose: () => void }) {
  const { t } = useLanguage();
  return (
    <Dialog onClose={onClose} title={t('settings.createdTitle')} size="lg" closeOnClickOutside={false}>
      <Stack gap="md">
        <Text size="sm">{t('settings.createdAbout')}</Text>
        <div>
          <code className={classes.secret} data-testid="created-key">
            {created.key}
          </code>
          <Group mt="xs" gap="xs">
            <CopyButton text={created.key} what={`${t('action.copy')}: ${t('settings.createdKey')}`} />
          </Group>
        </div>
        <KeyPermissions of={created} />
        <div>
          <Text size="sm" fw={600} mb={6}>
            {t('settings.createdTry')}
          </Text>
          <Snippet code={exampleFor(created)} label={t('settings.createdTry')} />
        </div>
        <Group justify="flex-end">
          <Button onClick={onClose}>{t('settings.createdDone')}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

/** A command that the scopes of this key allow. */
function exampleFor({ key, scopes, project_id: projectId }: NewApiKey): string {
  const url = filesUrl();
  const authorization = `-H "Authorization: Bearer ${key}"`;
  if (scopes.includes('files'))
    return `curl ${url}/v1/files ${authorization} \\\n  -F purpose=record_file -F file=@document.pdf`;
  if (withIncluded(scopes).has('collections:read')) return `curl ${url}/v1/collections ${authorization}`;
  if (withIncluded(scopes).has('plugins:read')) return `curl ${url}/plugins/v1/bundles ${authorization}`;
  if (scopes.includes('files:read')) return `curl ${url}/v1/files ${authorization}`;
  if (scopes.includes('metrics')) return `curl ${url}/metrics ${authorization}`;
  return `curl ${url}/v1/projects/${projectId}/keys ${authorization}`;
}
