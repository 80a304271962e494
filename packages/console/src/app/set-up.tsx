import { Button, Stack, TextInput } from '@mantine/core';
import { passwordBounds } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { filesApi } from '../api/addresses.ts';
import { keepSession, sessionKey } from '../api/session.ts';
import { PasswordField, useExplainPassword } from '../components/forms/password-field.tsx';
import { useSubmit } from '../components/forms/use-submit.ts';
import { useLanguage } from '../language/language.tsx';
import { ProviderLink } from './sign-in.tsx';
import { SignedOutPage } from './signed-out-page.tsx';

/** Creates the administrator. The fragment of the printed link holds the token. */
export function SetUp() {
  const { t } = useLanguage();
  const [token] = useState(() => window.location.hash.slice(1));
  if (token === '')
    return (
      <SignedOutPage title={t('setUp.title')} about={t('setUp.noLink')}>
        <ProviderLink />
      </SignedOutPage>
    );
  return (
    <SignedOutPage title={t('setUp.title')} about={t('setUp.about')}>
      <SetUpForm token={token} />
    </SignedOutPage>
  );
}

function SetUpForm({ token }: { token: string }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('admin');
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState('');
  const isDifferent = again !== '' && again !== password;

  const explainPassword = useExplainPassword('password', password);
  const { failure, busy, submit } = useSubmit(async () => {
    if (again !== password) return;
    await keepSession(filesApi.data('POST /v1/setup', { body: { token, name, password } }));
    await queries.resetQueries({ queryKey: sessionKey });
    await navigate({ to: '/', replace: true });
  }, explainPassword);
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <TextInput
          label={t('setUp.name')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          autoComplete="username"
          required
          withAsterisk={false}
        />
        <PasswordField
          label={t('setUp.password')}
          description={t('setUp.passwordHint', passwordBounds)}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          autoComplete="new-password"
          required
          withAsterisk={false}
          error={failure}
        />
        <PasswordField
          label={t('setUp.again')}
          value={again}
          onChange={(event) => setAgain(event.currentTarget.value)}
          autoComplete="new-password"
          required
          withAsterisk={false}
          error={isDifferent ? t('setUp.different') : null}
        />
        <Button type="submit" loading={busy} disabled={isDifferent} fullWidth>
          {t('setUp.create')}
        </Button>
      </Stack>
    </form>
  );
}
