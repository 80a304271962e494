import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { consoleTokenHeader, csrfHeader, type NewSession, projectHeader } from '@quartermaster/contract';
import type { StartedService } from './service.ts';

/** A signed-in administrator who sends requests like a browser. */
export interface SignedIn {
  readonly cookie: string;
  /** The second token, which the console stores. */
  readonly consoleToken: string;
  readonly projectId: string;
  /** Sends a request with cookie, second token, project and the header of writes. All of them may be overridden. */
  ask(method: string, path: string, options?: { body?: unknown; headers?: Record<string, string> }): Promise<Response>;
}

export const account = { name: 'Ada', password: 'seven otters paint slowly' } as const;

/** Returns the token of the setup link that the service printed. */
export async function setUpToken(service: StartedService): Promise<string> {
  return (await readFile(join(service.folder, 'setup-link'), 'utf8')).trim().split('#')[1] ?? '';
}

/** Creates the administrator of a fresh service. */
export async function setUp(service: StartedService): Promise<SignedIn> {
  const answer = await fetch(`${service.filesUrl}/v1/setup`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token: await setUpToken(service), ...account }),
  });
  const { data } = (await answer.json()) as { data?: NewSession };
  if (data === undefined) throw new Error(`the set-up was refused with ${answer.status}`);
  return signedIn(service, { cookie: cookieOf(answer), consoleToken: data.console_token });
}

/** Signs the administrator in from another browser. Returns the session and the headers of its requests. */
export async function beginSession(service: StartedService, headers: Record<string, string> = {}) {
  const answer = await fetch(`${service.filesUrl}/v1/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(account),
  });
  const { data } = (await answer.json()) as { data: NewSession };
  return { data, headers: { cookie: cookieOf(answer), [consoleTokenHeader]: data.console_token } };
}

export function cookieOf(answer: Response): string {
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0] ?? '')
    .join('; ');
}

/** Returns a browser with a session that exists. */
export async function signedIn(
  service: StartedService,
  { cookie, consoleToken }: Pick<SignedIn, 'cookie' | 'consoleToken'>,
): Promise<SignedIn> {
  const session = { cookie, [consoleTokenHeader]: consoleToken };
  const projects = await fetch(`${service.filesUrl}/v1/projects`, { headers: session });
  const { data } = (await projects.json()) as { data: Array<{ project_id: string }> };
  const projectId = data[0]?.project_id ?? '';
  return {
    cookie,
    consoleToken,
    projectId,
    ask: (method, path, { body, headers } = {}) =>
      fetch(service.filesUrl + path, {
        method,
        headers: {
          ...session,
          [csrfHeader]: '1',
          [projectHeader]: projectId,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
      }),
  };
}
