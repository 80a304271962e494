import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../../platform/http/app.ts';
import { type ConsoleFile, type ConsoleFiles, type Encoding, pageNotFound } from './console-files.ts';

/** Paths of the console. Its own code decides what they show. */
const consolePaths = [
  '/',
  '/setup',
  '/sign-in',
  '/sign-in/callback',
  '/files',
  '/collections',
  '/collections/*',
  '/jobs',
  '/catalogue',
  '/catalogue/*',
  '/runs',
  '/runs/*',
  '/credentials',
  '/settings',
  '/applications',
  '/people',
  '/audit',
  '/oauth/requests/:request_id',
];
const hidden = { schema: { hide: true } } as const;

export function isConsolePath(path: string): boolean {
  const startOf = (pattern: string) => pattern.slice(0, pattern.search(/[*:]/));
  return consolePaths.some((each) => path === each || (/[*:]/.test(each) && path.startsWith(startOf(each))));
}

export interface ConsoleDeps {
  readonly files: ConsoleFiles;
  /** The path that a proxy removes from requests, such as `/quartermaster`; empty when there is none. */
  readonly basePath: string;
}

/** The console, at the files address. */
export function consoleRoutes(app: App, deps: ConsoleDeps): void {
  for (const path of consolePaths) app.get(path, hidden, (_request, reply) => sendPage(deps, 'index.html', reply));
  // A browser at an unknown path gets the console, which shows its own page for it. Other clients get the JSON error.
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404 && wantsPage(request)) return await sendPage(deps, 'index.html', reply.code(404));
  });
}

/** Paths of the API, of dialects and of assets. Unknown paths below them get a JSON error. */
const pathsOfPrograms = /^\/(?:v1|plugins\/v1|openai|openwebui|dify|mcp|assets|\.well-known)(?:[/?]|$)/;

function wantsPage({ method, url, headers }: FastifyRequest): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead && /\btext\/html\b/.test(headers.accept ?? '') && !pathsOfPrograms.test(url);
}

/** Serves the documentation, the API reference and the assets of pages, at both addresses. */
export function referenceRoutes(app: App, deps: ConsoleDeps): void {
  const { files } = deps;
  app.get('/favicon.svg', hidden, (request, reply) => sendFile(files, 'favicon.svg', { request, reply }));
  app.get('/docs', hidden, (_request, reply) => sendPage(deps, 'site.html', reply));
  app.get<{ Params: { '*': string } }>('/docs/*', hidden, async (request, reply) => {
    const path = request.params['*'];
    if (path === 'api/') return await reply.redirect(`${deps.basePath}/docs/api`, 301);
    const isPage = (await readPaths(files)).includes(path.endsWith('/') ? path.slice(0, -1) : path);
    return await sendPage(deps, 'site.html', isPage ? reply : reply.code(404));
  });
  app.get('/docs/api', hidden, (_request, reply) => sendPage(deps, 'docs.html', reply));
  app.get<{ Params: { '*': string } }>('/assets/*', hidden, (request, reply) =>
    sendFile(files, `assets/${request.params['*']}`, { request, reply }),
  );
}

/** The paths of the pages below `/docs/`, which the build lists. */
async function readPaths(files: ConsoleFiles): Promise<readonly string[]> {
  const list = await files.find('pages.json');
  if (list === undefined) throw pageNotFound();
  return JSON.parse((await files.read(list, 'identity')).toString('utf8')); // written by packages/console/documentation.ts
}

/**
 * Allows scripts from this origin only, no inline scripts and no code from strings, and styles from this origin or with
 * the nonce of this response.
 */
function pagePolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The build writes paths that start with `./`, because only the settings know the base path. */
async function sendPage({ files, basePath }: ConsoleDeps, name: string, reply: FastifyReply): Promise<FastifyReply> {
  const nonce = randomBytes(16).toString('base64url');
  const file = await files.find(name);
  if (file === undefined) throw pageNotFound();
  const page = (await files.read(file, 'identity')).toString('utf8');
  reply.header('Content-Security-Policy', pagePolicy(nonce)).header('Cache-Control', 'no-cache');
  const located = page.replaceAll('="./', `="${basePath}/`).replaceAll('__BASE_PATH__', basePath);
  return reply.type('text/html; charset=utf-8').send(located.replace('__NONCE__', nonce));
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** The smallest first. */
const compressed = [
  { encoding: 'br', accepted: /\bbr\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/ },
  { encoding: 'gzip', accepted: /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/ },
] as const;

async function sendFile(files: ConsoleFiles, name: string, { request, reply }: Exchange): Promise<FastifyReply> {
  const file = await files.find(name);
  if (file === undefined) throw pageNotFound();
  const encoding = encodingFor(file, request.headers['accept-encoding'] ?? '');
  const etag = `"${file.hash}${encoding === 'identity' ? '' : `.${encoding}`}"`;
  // The names of assets hold a hash of their content.
  const lasting = name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
  const content = await files.read(file, encoding);
  reply.header('ETag', etag).header('Vary', 'Accept-Encoding').header('Cache-Control', lasting);
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  if (encoding !== 'identity') reply.header('Content-Encoding', encoding);
  reply.type(file.type).header('Content-Length', content.length);
  return reply.send(request.method === 'HEAD' ? undefined : content);
}

function encodingFor(file: ConsoleFile, header: string): Encoding {
  if (file.digests.br === undefined) return 'identity'; // too small
  return compressed.find(({ accepted }) => accepted.test(header))?.encoding ?? 'identity';
}
