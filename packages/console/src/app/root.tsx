import { Center, Loader } from '@mantine/core';
import { useSessionState } from '../api/session.ts';
import { Failure } from '../pieces/failure.tsx';
import { SessionEnded } from './session-ended.tsx';
import { SetUp } from './set-up.tsx';
import { Shell } from './shell.tsx';
import { SignIn } from './sign-in.tsx';

/** Nobody sees a page without a session; where there is no administrator yet, one is made first. */
export function Root() {
  const state = useSessionState();
  if (state.error !== null) return <Failure error={state.error} onRetry={() => void state.refetch()} />;
  switch (state.data?.kind) {
    case undefined:
      return (
        <Center h="100dvh">
          <Loader aria-label="…" />
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
