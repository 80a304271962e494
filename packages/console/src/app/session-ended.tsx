import { Modal, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { filesApi } from '../api/addresses.ts';
import { sessionKey } from '../api/session.ts';
import { resumeSession, useSessionEnded } from '../api/session-gate.ts';
import { useLanguage } from '../language/language.tsx';
import { SignInForm } from './sign-in.tsx';

/** Shows a sign-in form over the page, which keeps its input, until the user signs in here or in another tab. */
export function SessionEnded() {
  return useSessionEnded() ? <SignInAgain /> : null;
}

function SignInAgain() {
  const { t } = useLanguage();
  const queries = useQueryClient();
  useEffect(() => {
    const look = () => void filesApi.json('GET /v1/session').then(resumeSession, () => undefined);
    window.addEventListener('focus', look);
    return () => window.removeEventListener('focus', look);
  }, []);
  const resume = async () => {
    resumeSession();
    await queries.invalidateQueries({ queryKey: sessionKey });
  };
  return (
    <Modal
      opened
      onClose={() => undefined}
      title={t('session.ended')}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      centered
      // Above any dialog of the page, which stays open.
      zIndex={400}
    >
      <Text c="dimmed" size="sm" mb="md">
        {t('session.endedAbout')}
      </Text>
      <SignInForm onSignedIn={resume} />
    </Modal>
  );
}
