import { Checkbox, NativeSelect, Stack } from '@mantine/core';
import { type NewApiKey, type Scope, scopes } from '@quartermaster/contract';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { Dialog } from '../../components/forms/dialog.tsx';
import { NameField } from '../../components/forms/name-field.tsx';
import { SubmitForm } from '../../components/forms/submit-form.tsx';
import { useLanguage } from '../../language/language.tsx';
import { ToolChoice } from './tool-choice.tsx';

const dayMs = 86_400_000;
const lifetimes = [7, 30, 90, 365];

export interface NewKeyProps {
  readonly projectId: string;
  readonly onCreated: (key: NewApiKey) => void;
  readonly onClose: () => void;
}

export function NewKey({ projectId, onCreated, onClose }: NewKeyProps) {
  const { t } = useLanguage();
  const [name, setName] = useState('');
  const [wanted, setWanted] = useState<readonly Scope[]>(['files', 'collections']);
  const [days, setDays] = useState('');
  const [isLimited, setLimited] = useState(false);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const hasPlugins = wanted.includes('plugins');
  const isMissing = hasPlugins && isLimited && chosen.length === 0;
  const create = async () => {
    if (wanted.length === 0 || isMissing) return;
    const expires = days === '' ? null : Date.now() + Number(days) * dayMs;
    const tools = hasPlugins && isLimited ? { tools: [...chosen] } : {};
    const body = { name, scopes: [...wanted], expires_timestamp: expires, ...tools };
    onCreated(await filesApi.data('POST /v1/projects/{project_id}/keys', { path: { project_id: projectId }, body }));
  };
  return (
    <Dialog onClose={onClose} title={t('settings.newKey')}>
      <SubmitForm action={t('settings.newKey')} onSubmit={create}>
        {(failure) => (
          <>
            <NameField
              label={t('settings.keyName')}
              hint={t('settings.keyNameHint')}
              value={name}
              onChange={setName}
              failure={failure}
            />
            <Checkbox.Group
              label={t('settings.scopes')}
              value={[...wanted]}
              onChange={(values) => setWanted(values as Scope[])} // of the list below
              error={wanted.length === 0 ? t('settings.scopeMissing') : null}
            >
              <Stack gap="xs" mt="xs">
                {scopes.map((scope) => (
                  <Checkbox key={scope} value={scope} label={t(`settings.scope.${scope}`)} />
                ))}
              </Stack>
            </Checkbox.Group>
            {hasPlugins ? (
              <NativeSelect
                label={t('settings.toolLimit')}
                value={isLimited ? 'some' : 'all'}
                onChange={(event) => setLimited(event.currentTarget.value === 'some')}
                data={[
                  { value: 'all', label: t('settings.toolsAll') },
                  { value: 'some', label: t('settings.toolsSome') },
                ]}
              />
            ) : null}
            {hasPlugins && isLimited ? <ToolChoice chosen={chosen} onChange={setChosen} isMissing={isMissing} /> : null}
            <NativeSelect
              label={t('settings.expiry')}
              value={days}
              onChange={(event) => setDays(event.currentTarget.value)}
              data={[
                { value: '', label: t('settings.never') },
                ...lifetimes.map((value) => ({ value: String(value), label: t('settings.days', { days: value }) })),
              ]}
            />
          </>
        )}
      </SubmitForm>
    </Dialog>
  );
}
