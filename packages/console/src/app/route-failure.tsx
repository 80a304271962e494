import { Failure } from '../pieces/failure.tsx';

/** A page that could not be shown. */
export function RouteFailure({ error, reset }: { error: unknown; reset: () => void }) {
  return <Failure error={error} onRetry={reset} />;
}
