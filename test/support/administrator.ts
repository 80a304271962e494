import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { csrfHeader, projectHeader, type Session } from '@quartermaster/contract';
import type { StartedService } from './service.ts';

/** A signed-in administrator, as a browser would send its requests. */
export interface SignedIn {
  readonly cookie: string;
  readonly projectId: string;
  /** With cookie, project and the header of writes; all of them may be overridden. */
  ask(method: string, path: string, wish?: { body?: unknown; headers?: Record<string, string> }): Promise<Response>;
}

export const administrator = { name: 'Ada', password: 'seven otters paint slowly' } as const;

/** The token of the link that the service printed. */
export async function setUpToken(service: StartedService): Promise<string> {
  return (await readFile(join(service.folder, 'setup-link'), 'utf8')).trim().split('#')[1] ?? '';
}

/** Makes the administrator of a fresh service. */
export async function setUp(service: StartedService): Promise<SignedIn> {
  const answer = await fetch(`${service.filesUrl}/v1/setup`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token: await setUpToken(service), ...administrator }),
  });
  const { data } = (await answer.json()) as { data?: Session };
  if (data === undefined) throw new Error(`the set-up was refused with ${answer.status}`);
  return signedIn(service, cookieOf(answer));
}

export function cookieOf(answer: Response): string {
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0] ?? '')
    .join('; ');
}

async function signedIn(service: StartedService, cookie: string): Promise<SignedIn> {
  const projects = await fetch(`${service.filesUrl}/v1/projects`, { headers: { cookie } });
  const { data } = (await projects.json()) as { data: Array<{ project_id: string }> };
  const projectId = data[0]?.project_id ?? '';
  return {
    cookie,
    projectId,
    ask: (method, path, { body, headers } = {}) =>
      fetch(service.filesUrl + path, {
        method,
        headers: {
          cookie,
          [csrfHeader]: '1',
          [projectHeader]: projectId,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
      }),
  };
}
