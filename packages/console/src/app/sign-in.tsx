import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { filesApi } from '../api/addresses.ts';
import { keepSession, sessionKey } from '../api/session.ts';
import { providerUrl, signInApi } from '../api/sign-in.ts';
import { PasswordField } from '../components/forms/password-field.tsx';
import { useSubmit } from '../components/forms/use-submit.ts';
import { useLanguage } from '../language/language.tsx';
import { SignedOutPage } from './signed-out-page.tsx';

export function SignIn() {
  const { t } = useLanguage();
  const queries = useQueryClient();
  return (
    <SignedOutPage title={t('signIn.title')} about={t('signIn.about')}>
      <SignInForm onSignedIn={() => queries.resetQueries({ queryKey: sessionKey })} />
    </SignedOutPage>
  );
}

/** The form that begins a session. */
export function SignInForm({ onSignedIn }: { onSignedIn: () => Promise<void> }) {
  const { t } = useLanguage();
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');

  const { failure, busy, submit } = useSubmit(async () => {
    await keepSession(filesApi.data('POST /v1/session', { body: { name, password } }));
    await onSignedIn();
  });
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <TextInput
          label={t('signIn.name')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          autoComplete="username"
          required
          withAsterisk={false}
          data-autofocus
          ref={first}
        />
        <PasswordField
          label={t('signIn.password')}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          autoComplete="current-password"
          required
          withAsterisk={false}
          error={failure}
        />
        <Button type="submit" loading={busy} fullWidth>
          {t('signIn.title')}
        </Button>
        <ProviderLink />
        <Text size="xs" c="dimmed">
          {t('signIn.forgotten')}
        </Text>
      </Stack>
    </form>
  );
}

/** Leaves for the identity provider, which sends the browser back to this page. */
export function ProviderLink() {
  const { t } = useLanguage();
  const ways = useQuery({
    queryKey: ['sign-in-ways'],
    queryFn: () => signInApi.data('GET /v1/sign_in'),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const provider = ways.data?.provider ?? null;
  if (provider === null) return null;
  return (
    <Button component="a" href={providerUrl()} variant="default" fullWidth>
      {t('signIn.with', { provider })}
    </Button>
  );
}
