import { Text } from '@mantine/core';
import type { Bundle, CredentialProfile } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { pluginsApi } from '../../api/addresses.ts';
import { profilesKey } from '../../api/credential-profiles.ts';
import { Dialog } from '../../components/forms/dialog.tsx';
import { SubmitForm } from '../../components/forms/submit-form.tsx';
import type { Values } from '../../components/schema/schema-form.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { CredentialFields } from './new-profile.tsx';

export interface ReplaceCredentialsProps {
  readonly profile: CredentialProfile;
  readonly bundle: Bundle;
  readonly onClose: () => void;
}

/** Replaces the credentials of a profile. */
export function ReplaceCredentials({ profile, bundle, onClose }: ReplaceCredentialsProps) {
  const { t } = useLanguage();
  const { say } = useToasts();
  const queries = useQueryClient();
  const [credentials, setCredentials] = useState<Values>({});
  const { name } = profile;
  const replace = async () => {
    await pluginsApi.json('POST /v1/credential_profiles/{name}', { path: { name }, body: { credentials } });
    await queries.invalidateQueries({ queryKey: profilesKey });
    say(t('profiles.replaced', { name }));
    onClose();
  };
  return (
    <Dialog onClose={onClose} title={t('profiles.replaceTitle', { name })} closeOnClickOutside={false}>
      <SubmitForm action={t('profiles.replace')} onSubmit={replace}>
        {(failure) => (
          <>
            <CredentialFields bundle={bundle} value={credentials} onChange={setCredentials} />
            {failure === null ? null : (
              <Text size="sm" c="red" role="alert">
                {failure}
              </Text>
            )}
          </>
        )}
      </SubmitForm>
    </Dialog>
  );
}
