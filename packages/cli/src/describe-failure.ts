import { ApiError } from '@quartermaster/client/api';

/** Describes the error of a command: the error of the service, or that no service answers. */
export function describeFailure(error: unknown): string {
  if (error instanceof ApiError) return `${error.code}: ${error.message}`;
  if (!(error instanceof Error)) return String(error);
  // `fetch` reports every failed connection with this message; the cause contains the reason.
  if (error instanceof TypeError && error.message === 'fetch failed' && error.cause instanceof Error) {
    const reason = error.cause.message || Reflect.get(error.cause, 'code');
    return `No Quartermaster service answers (${reason}). Start it, or set its address with --url.`;
  }
  const { code, path } = error as NodeJS.ErrnoException; // set for errors of the system
  const describe = code === undefined ? undefined : systemErrors[code];
  return describe === undefined || path === undefined ? error.message : describe(path);
}

const systemErrors: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) => `${path} does not exist. Check the path.`,
  EACCES: (path) => `${path} cannot be opened: permission denied. Check its mode and its owner.`,
  EISDIR: (path) => `${path} is a folder. Name a file.`,
  ENOTDIR: (path) => `${path} is not a folder. Name a folder.`,
};
