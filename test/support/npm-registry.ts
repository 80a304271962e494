import { execFile } from 'node:child_process';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { serve } from './http.ts';
import type { Ending } from './service.ts';

/** What `npm publish` sends for one version. The archive is base64. */
interface Publication {
  readonly name: string;
  readonly versions: Readonly<Record<string, { readonly dist: { readonly tarball: string } }>>;
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
}

/** Starts a registry that accepts `npm publish`, and leads npm to the registry of this machine for each other package. @returns its URL */
export async function startRegistry(t: Ending): Promise<string> {
  const { stdout } = await promisify(execFile)('npm', ['config', 'get', 'registry']);
  const others = stdout.trim().replace(/\/$/, '');
  const answers = new Map<string, string | Buffer>();
  return await serve(t, async (request, response) => {
    const path = decodeURIComponent(request.url ?? '');
    const answer = answers.get(path);
    if (request.method === 'PUT') {
      const { _attachments: attachments, ...published } = (await json(request)) as Publication;
      for (const version of Object.values(published.versions)) {
        const archive = Buffer.from(Object.values(attachments)[0]?.data ?? '', 'base64');
        // As the registry of npm does: npm reads the npm-shrinkwrap.json only of packages with this member.
        Object.assign(version, { _hasShrinkwrap: gunzipSync(archive).includes('package/npm-shrinkwrap.json\0') });
        answers.set(new URL(version.dist.tarball).pathname, archive);
      }
      answers.set(`/${published.name}`, JSON.stringify(published));
      response.writeHead(201).end('{}');
    } else if (answer !== undefined) response.end(answer);
    else response.writeHead(302, { location: others + request.url }).end();
  });
}
