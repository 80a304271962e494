import { Center, Loader } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { useSessionState } from '../api/session.ts';
import { callbackPath } from '../api/sign-in.ts';
import { Failure } from '../components/failure.tsx';
import { useLanguage } from '../language/language.tsx';
import { SessionEnded } from './session-ended.tsx';
import { SetUp } from './set-up.tsx';
import { Shell } from './shell.tsx';
import { SignIn } from './sign-in.tsx';
import { SignInCallback } from './sign-in-callback.tsx';

/** The page to which an identity provider sends the browser back needs no session. */
export function Root() {
  return useLocation().pathname === callbackPath ? <SignInCallback /> : <SessionRoot />;
}

/** Shows the set-up if there is no administrator, the sign-in if there is no session, and otherwise the pages. */
function SessionRoot() {
  const { t } = useLanguage();
  const state = useSessionState();
  if (state.error !== null) return <Failure error={state.error} onRetry={() => void state.refetch()} />;
  switch (state.data?.kind) {
    case undefined:
      return (
        <Center h="100dvh">
          <Loader aria-label={t('loading')} />
        </Center>
      );
    case 'not-set-up':
      return <SetUp />;
    case 'signed-out':
      return <SignIn />;
    case 'signed-in':
      return (
        <>
          <Shell session={state.data.session} />
          <SessionEnded />
        </>
      );
  }
}
