import { Button, Checkbox, Group, Modal, NativeSelect, Stack, TextInput } from '@mantine/core';
import { type NewApiKey, type Scope, scopes } from '@quartermaster/contract';
import { type FormEvent, useState } from 'react';
import { ask } from '../../api/call.ts';
import { useLanguage } from '../../language/language.tsx';
import { describeFailure } from '../../pieces/failure.tsx';

const dayMs = 86_400_000;
const lifetimes = [7, 30, 90, 365];

export interface NewKeyWish {
  readonly path: string;
  readonly onMade: (key: NewApiKey) => void;
  readonly onClose: () => void;
}

export function NewKey({ path, onMade, onClose }: NewKeyWish) {
  const { t } = useLanguage();
  const [name, setName] = useState('');
  const [wanted, setWanted] = useState<readonly string[]>(['files', 'collections']);
  const [days, setDays] = useState('');
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const make = async (event: FormEvent) => {
    event.preventDefault();
    if (wanted.length === 0) return;
    setBusy(true);
    const expires = days === '' ? null : Date.now() + Number(days) * dayMs;
    const body = { name, scopes: wanted as readonly Scope[], expires_timestamp: expires }; // of the list below
    try {
      onMade(await ask<NewApiKey>('POST', path, { body }));
    } catch (error) {
      setFailure(describeFailure(error));
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={t('settings.newKey')} closeButtonProps={{ 'aria-label': t('action.close') }}>
      <form onSubmit={make}>
        <Stack gap="md">
          <TextInput
            label={t('settings.keyName')}
            description={t('settings.keyNameHint')}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            maxLength={127}
            required
            withAsterisk={false}
            data-autofocus
            error={failure}
          />
          <Checkbox.Group
            label={t('settings.scopes')}
            value={[...wanted]}
            onChange={setWanted}
            error={wanted.length === 0 ? t('settings.scopeMissing') : null}
          >
            <Stack gap="xs" mt="xs">
              {scopes.map((scope) => (
                <Checkbox key={scope} value={scope} label={t(`settings.scope.${scope}`)} />
              ))}
            </Stack>
          </Checkbox.Group>
          <NativeSelect
            label={t('settings.expiry')}
            value={days}
            onChange={(event) => setDays(event.currentTarget.value)}
            data={[
              { value: '', label: t('settings.never') },
              ...lifetimes.map((value) => ({ value: String(value), label: t('settings.days', { days: value }) })),
            ]}
          />
          <Group justify="flex-end">
            <Button type="submit" loading={busy}>
              {t('settings.newKey')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
