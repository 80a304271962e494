import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useLanguage } from '../../language/language.tsx';
import { PasswordField } from '../forms/password-field.tsx';
import { SubmitForm } from '../forms/submit-form.tsx';

/** The failures that another password may resolve. */
export function needsPassword(error: { readonly code: string } | null): boolean {
  return error?.code === 'file_encrypted' || error?.code === 'password_wrong';
}

/** Processes a document again with the password of its file. */
export function PasswordForm({ path }: { path: { readonly collection_id: string; readonly record_id: string } }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const [password, setPassword] = useState('');
  const submit = async () => {
    const body = { password };
    await filesApi.json('POST /v1/collections/{collection_id}/records/{record_id}', { path, body });
    await queries.invalidateQueries({ queryKey: ['record', path] });
    await queries.invalidateQueries({ queryKey: ['records', path.collection_id] });
  };
  return (
    <SubmitForm action={t('records.passwordUse')} isReady={password !== ''} onSubmit={submit}>
      {(failure) => (
        <>
          <PasswordField
            label={t('records.password')}
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            autoComplete="off"
            maxLength={255}
            error={failure}
          />
          <Text size="sm" c="dimmed">
            {t('records.passwordAbout')}
          </Text>
        </>
      )}
    </SubmitForm>
  );
}
