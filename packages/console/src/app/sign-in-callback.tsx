import { Alert, Button, Center, Loader } from '@mantine/core';
import { ApiError } from '@quartermaster/client/api';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { keepSession } from '../api/session.ts';
import { providerAnswer, signInApi } from '../api/sign-in.ts';
import { basePath } from '../base-path.ts';
import { describeFailure } from '../components/failure.tsx';
import { Icon } from '../components/icons.tsx';
import { useLanguage } from '../language/language.tsx';
import { SignedOutPage } from './signed-out-page.tsx';

/** Sends the answer of the identity provider to the service, and then opens the page on which the person was. */
export function SignInCallback() {
  const { t } = useLanguage();
  const finished = useQuery({
    queryKey: ['sign-in-callback'],
    queryFn: async () => {
      const session = finish();
      await keepSession(session);
      return (await session).return_to;
    },
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  useEffect(() => {
    if (finished.data !== undefined) window.location.replace(basePath + finished.data);
  }, [finished.data]);
  if (finished.error !== null) return <SignInFailed error={finished.error} />;
  return (
    <SignedOutPage title={t('signIn.callback')} about={t('signIn.callbackAbout')}>
      <Center>
        <Loader aria-label={t('loading')} />
      </Center>
    </SignedOutPage>
  );
}

/** @throws ApiError, also for a sign-in that failed before the provider was reached */
async function finish() {
  const query = new URLSearchParams(providerAnswer);
  const failed = query.get('failed');
  if (failed === null) return signInApi.data('POST /v1/sign_in/oidc', { body: { answer: providerAnswer } });
  throw new SignInError(failed, query);
}

/** The service sent the browser to this page instead of to the provider. */
class SignInError extends Error {
  readonly code: string;
  readonly requestId: string | null;
  /** The minutes until another attempt. */
  readonly minutes: number;
  constructor(code: string, query: URLSearchParams) {
    super(code);
    this.code = /^[A-Z_]{1,40}$/.test(code) ? code : 'INTERNAL_SERVER_ERROR';
    this.requestId = query.get('request_id')?.slice(0, 64) ?? null;
    this.minutes = Math.ceil(Math.min(Number(query.get('retry_after')) || 600, 600) / 60);
  }
}

const explanations = {
  answer_invalid: 'signIn.reason.answer_invalid',
  denied: 'signIn.reason.denied',
  expired: 'signIn.reason.expired',
  no_access: 'signIn.reason.no_access',
  too_many_groups: 'signIn.reason.too_many_groups',
  unreachable: 'signIn.reason.unreachable',
} as const;

const reasonsOfCodes: ReadonlyMap<string, string> = new Map([
  ['PROVIDER_ERROR', 'unreachable'],
  ['PERMISSION_DENIED', 'no_access'],
]);

/** The key of the text for a reason of the service; null for other errors, which the code explains. */
function explanationOf(error: ApiError | SignInError) {
  const named = error instanceof ApiError ? error.details?.[0]?.reason : undefined;
  const ofCode = reasonsOfCodes.get(error.code);
  const found = Object.entries(explanations).find(([reason]) => reason === (named ?? ofCode));
  return found?.[1] ?? null;
}

function SignInFailed({ error }: { error: Error }) {
  const { t, explain } = useLanguage();
  const coded = error instanceof ApiError || error instanceof SignInError ? error : null;
  const explanation = coded === null ? null : explanationOf(coded);
  const own = ({ code, minutes }: SignInError) =>
    code === 'TOO_MANY_REQUESTS' ? t('signIn.throttled', { minutes }) : explain({ code, message: '' });
  const message = error instanceof SignInError ? own(error) : describeFailure(error, explain);
  return (
    <SignedOutPage title={t('signIn.failed')} about={t('signIn.about')}>
      <Alert color="red" variant="light" icon={<Icon name="warning" />} role="alert">
        {explanation === null ? message : t(explanation)}
        {coded === null ? null : (
          <div>
            <small>{[coded.code, coded.requestId].filter(Boolean).join(' · ')}</small>
          </div>
        )}
      </Alert>
      <Button component="a" href={`${basePath}/`} variant="default" fullWidth>
        {t('signIn.back')}
      </Button>
    </SignedOutPage>
  );
}
