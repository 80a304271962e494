import { Button, Group, Stack } from '@mantine/core';
import { passwordBounds } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { keepSession, sessionKey } from '../../api/session.ts';
import { useProjectChoice } from '../../app/project.tsx';
import { formatTime } from '../../components/format.ts';
import { PasswordField, useExplainPassword } from '../../components/forms/password-field.tsx';
import { useSubmit } from '../../components/forms/use-submit.ts';
import { Section } from '../../components/section.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { SessionList, sessionsKey } from './session-list.tsx';

export function Account() {
  const { t, code } = useLanguage();
  const { session } = useProjectChoice();
  return (
    <Section
      id="account"
      title={t('settings.account')}
      about={t('settings.signedInAs', { name: session.name, time: formatTime(session.expires_timestamp, code) })}
    >
      <PasswordForm />
      <SessionList />
    </Section>
  );
}

function PasswordForm() {
  const { t } = useLanguage();
  const { say } = useToasts();
  const queries = useQueryClient();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const explainPassword = useExplainPassword('new_password', next);
  const { failure, busy, submit } = useSubmit(async () => {
    const body = { current_password: current, new_password: next };
    await keepSession(filesApi.data('POST /v1/session/password', { body }));
    void queries.invalidateQueries({ queryKey: sessionKey });
    void queries.invalidateQueries({ queryKey: sessionsKey });
    setCurrent('');
    setNext('');
    say(t('settings.passwordChanged'));
  }, explainPassword);
  return (
    <form onSubmit={submit}>
      <Stack gap="sm" maw={420}>
        <PasswordField
          label={t('settings.currentPassword')}
          value={current}
          onChange={(event) => setCurrent(event.currentTarget.value)}
          autoComplete="current-password"
          required
          withAsterisk={false}
        />
        <PasswordField
          label={t('settings.newPassword')}
          description={t('setUp.passwordHint', passwordBounds)}
          value={next}
          onChange={(event) => setNext(event.currentTarget.value)}
          autoComplete="new-password"
          required
          withAsterisk={false}
          error={failure}
        />
        <Group>
          <Button type="submit" variant="default" loading={busy}>
            {t('settings.changePassword')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
