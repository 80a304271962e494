import swagger from '@fastify/swagger';
import { consoleTokenHeader, csrfHeader, projectHeader, sessionCookie } from '@quartermaster/contract';
import { serviceOperations } from '@quartermaster/contract/operations';
import type { App } from '../app.ts';
import { completeDocument } from './complete-document.ts';
import type { OpenApiDocument } from './document.ts';
import { markSchemas } from './named-schemas.ts';

export interface OpenApiDeps {
  readonly title: string;
  readonly description: string;
  readonly version: string;
  /** The variable that contains the URL of this address in examples. */
  readonly address: 'FILES' | 'PLUGINS';
  /** The public URL when it has a path. Without `servers`, clients take the root of the document's origin. */
  readonly serverUrl: string | null;
  /** True when operations need a key by default. */
  readonly keyRequired: boolean;
  /** True when an administrator's session is accepted instead of a key. */
  readonly sessions: boolean;
}

/** Collects the schemas of every route that is registered later. Call it before the routes. */
export async function collectOpenApi(app: App, deps: OpenApiDeps): Promise<void> {
  const session = {
    type: 'apiKey' as const,
    in: 'cookie' as const,
    name: sessionCookie,
    description: `The session of an account. Requests name their project in "${projectHeader}"; those that change something have "${csrfHeader}".`,
  };
  const consoleToken = {
    type: 'apiKey' as const,
    in: 'header' as const,
    name: consoleTokenHeader,
    description: 'The `console_token` of the answer that began the session. The cookie alone is refused.',
  };
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: deps.title,
        description: introduce(deps),
        version: deps.version,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      ...(deps.serverUrl === null ? {} : { servers: [{ url: deps.serverUrl }] }),
      components: {
        securitySchemes: {
          apiKey: { type: 'http', scheme: 'bearer', description: 'A key of a project.' },
          ...(deps.sessions ? { session, consoleToken } : {}),
        },
      },
      security: [
        ...(deps.keyRequired ? [] : [{}]),
        { apiKey: [] as string[] },
        ...(deps.sessions ? [{ session: [] as string[], consoleToken: [] as string[] }] : []),
      ],
    },
    hideUntagged: true,
    transform: ({ schema, url }) => ({ schema: markSchemas(schema), url }),
  });
  let document: string | undefined;
  app.get('/openapi.json', { schema: serviceOperations.getOpenApi }, async (_request, reply) => {
    document ??= JSON.stringify(completeDocument(app.swagger() as unknown as OpenApiDocument, deps.address));
    return reply.type('application/json; charset=utf-8').send(document);
  });
}

/** Explains the examples and the rules for all operations. */
function introduce({ description, address, keyRequired }: OpenApiDeps): string {
  const url = address === 'FILES' ? 'http://127.0.0.1:8080' : 'http://127.0.0.1:8081';
  return [
    description,
    `Examples are commands for a shell. Set \`${address}\` to the address of the service (\`${address}=${url}\`) and \`QM_API_KEY\` to a key (\`QM_API_KEY=$(cat data/first-key)\`). ` +
      'A comment above an example explains the origin of every other variable.',
    ...(keyRequired
      ? []
      : [
          'This address requires no key now: you may leave the header `Authorization` out. A key that is sent is checked.',
        ]),
    'Lists answer at most `limit` items. Give the id of the last one as `after` to get the next page, until `has_more` is false.',
    'Errors have one form on every path: `{"status":"error","error":{"code","message","details","request_id"}}`. 429 and 503 carry `Retry-After`: send the request again after that many seconds.',
    'Unknown names at the top level of a body, in a form or in a query are ignored. `warnings` of the answer names those of a body or a form. Unknown names in objects below it are refused with 422 where a schema does not allow them.',
    'If several fields of a JSON body are wrong or missing, `details` lists each of them, and `message` describes the first five. Of a query, a path or headers, only the first error is described.',
    `The header \`Idempotency-Key\` makes it safe to send a request again. It works for ${address === 'FILES' ? '`uploadFile`' : '`execute` and `executeDirectly`'}; other operations ignore it.`,
  ].join('\n\n');
}
