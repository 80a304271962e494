import { Text, TextInput } from '@mantine/core';
import type { Bundle } from '@quartermaster/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { Dialog } from '../../components/forms/dialog.tsx';
import { PasswordField } from '../../components/forms/password-field.tsx';
import { SubmitForm } from '../../components/forms/submit-form.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { BundleChoice, onlyOne } from './bundle-choice.tsx';
import { connectionWords } from './connection-words.ts';

/** Lets the operator enter the OAuth client of a bundle. The secret is never shown again. */
export function OauthClientForm({ bundles, onClose }: { bundles: readonly Bundle[]; onClose: () => void }) {
  const { code } = useLanguage();
  const words = connectionWords[code];
  const { say } = useToasts();
  const queries = useQueryClient();
  const [bundleId, setBundleId] = useState(onlyOne(bundles));
  const [clientId, setClientId] = useState<string | null>(null);
  const [secret, setSecret] = useState('');
  const path = { bundle_id: bundleId };
  const queryKey = ['oauth-client', bundleId];
  const found = useQuery({
    queryKey,
    queryFn: () => filesApi.data('GET /v1/oauth_clients/{bundle_id}', { path }),
    enabled: bundleId !== '',
  });
  const id = clientId ?? found.data?.client_id ?? '';
  const choose = (chosen: string) => {
    setBundleId(chosen);
    setClientId(null);
    setSecret('');
  };
  const save = async () => {
    const body = { client_id: id, ...(secret === '' ? {} : { client_secret: secret }) };
    await filesApi.data('PUT /v1/oauth_clients/{bundle_id}', { path, body });
    await queries.invalidateQueries({ queryKey });
    say(words.clientSaved);
    onClose();
  };
  return (
    <Dialog onClose={onClose} title={words.client} closeOnClickOutside={false}>
      <SubmitForm action={words.save} onSubmit={save} isReady={found.isSuccess && id !== ''}>
        {(failure) => (
          <>
            <BundleChoice bundles={bundles} value={bundleId} onChange={choose} />
            {found.data === undefined ? null : (
              <Text size="sm">
                {words.clientAbout} <code>{found.data.redirect_uri}</code>
              </Text>
            )}
            <TextInput
              label={words.clientId}
              value={id}
              onChange={(event) => setClientId(event.currentTarget.value)}
              maxLength={1024}
              error={failure}
            />
            <PasswordField
              label={words.clientSecret}
              value={secret}
              onChange={(event) => setSecret(event.currentTarget.value)}
              autoComplete="off"
              maxLength={4096}
            />
          </>
        )}
      </SubmitForm>
    </Dialog>
  );
}
