import { Alert, Button } from '@mantine/core';
import { ApiError } from '@quartermaster/client/api';
import type { CodedError } from '../language/explain-error.ts';
import { useLanguage } from '../language/language.tsx';
import { Icon } from './icons.tsx';

/** Returns whether the same request may succeed later. It cannot if the service refused its content. */
export function mayRetry(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  return error.status >= 500 || [401, 408, 409, 429].includes(error.status);
}

/** The message of an error: the translation of its code, otherwise the message of the service. */
export function describeFailure(error: unknown, explain: (error: CodedError) => string): string {
  if (error instanceof ApiError) return explain(error);
  return error instanceof Error ? error.message : String(error);
}

/** An error in the place of content, with a button to try again. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { t, explain } = useLanguage();
  const code = error instanceof ApiError ? error.code : undefined;
  const requestId = error instanceof ApiError ? error.requestId : null;
  const isOffline = error instanceof TypeError;
  return (
    <Alert
      color="red"
      variant="light"
      icon={<Icon name="warning" />}
      title={t(mayRetry(error) ? 'failure.title' : 'failure.refused')}
      role="alert"
    >
      {isOffline ? t('failure.offline') : describeFailure(error, explain)}
      {code === undefined ? null : (
        <div>
          <small>
            {code}
            {requestId === null ? '' : ` · ${requestId}`}
          </small>
        </div>
      )}
      {onRetry === undefined || !mayRetry(error) ? null : (
        <Button mt="sm" size="xs" variant="default" onClick={onRetry}>
          {t('action.retry')}
        </Button>
      )}
    </Alert>
  );
}
