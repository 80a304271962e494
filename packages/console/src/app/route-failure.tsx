import { Failure } from '../components/failure.tsx';

/** Shown when a page throws an error. */
export function RouteFailure({ error, reset }: { error: unknown; reset: () => void }) {
  return <Failure error={error} onRetry={reset} />;
}
