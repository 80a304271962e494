import { NativeSelect, Text } from '@mantine/core';
import type { NewApiKey } from '@quartermaster/contract';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { Dialog } from '../../components/forms/dialog.tsx';
import { NameField } from '../../components/forms/name-field.tsx';
import { SubmitForm } from '../../components/forms/submit-form.tsx';
import { useLanguage } from '../../language/language.tsx';
import { firstChoice, KeyChoiceFields, permissionsOf } from './key-choice.tsx';
import { KeyPermissions } from './key-permissions.tsx';

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
  const [choice, setChoice] = useState(firstChoice);
  const [days, setDays] = useState('');
  const wanted = permissionsOf(choice);
  const isMissing = [wanted.scopes, wanted.collections, wanted.tools].some((list) => list?.length === 0);
  const create = async () => {
    if (isMissing) return;
    const { scopes, collections, tools } = wanted;
    const body = {
      name,
      scopes: [...scopes],
      collections: collections && [...collections],
      tools: tools && [...tools],
      expires_timestamp: days === '' ? null : Date.now() + Number(days) * dayMs,
    };
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
            <KeyChoiceFields choice={choice} onChange={(change) => setChoice((known) => ({ ...known, ...change }))} />
            <NativeSelect
              label={t('settings.expiry')}
              value={days}
              onChange={(event) => setDays(event.currentTarget.value)}
              data={[
                { value: '', label: t('settings.never') },
                ...lifetimes.map((value) => ({ value: String(value), label: t('settings.days', { days: value }) })),
              ]}
            />
            {isMissing ? null : (
              <div>
                <Text size="sm" fw={600}>
                  {t('settings.keyMay')}
                </Text>
                <KeyPermissions of={wanted} names={choice.collections} />
              </div>
            )}
          </>
        )}
      </SubmitForm>
    </Dialog>
  );
}
