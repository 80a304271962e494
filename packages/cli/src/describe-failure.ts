import { ApiError } from '@quartermaster/client';

/** What a command that failed says: what the service said, or that there is none. */
export function describeFailure(error: unknown): string {
  if (error instanceof ApiError) return `${error.code}: ${error.message}`;
  if (!(error instanceof Error)) return String(error);
  // What `fetch` says of every connection that fails; the reason is its cause.
  if (error instanceof TypeError && error.message === 'fetch failed' && error.cause instanceof Error) {
    const reason = error.cause.message || Reflect.get(error.cause, 'code');
    return `the service does not answer (${reason}). Is it running? --url says where.`;
  }
  return error.message;
}
