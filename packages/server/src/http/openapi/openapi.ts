import swagger from '@fastify/swagger';
import { consoleTokenHeader, csrfHeader, projectHeader, sessionCookie } from '@quartermaster/contract';
import type { FastifySchema } from 'fastify';
import type { App } from '../app.ts';

export interface OpenApiDeps {
  readonly title: string;
  readonly description: string;
  readonly version: string;
  /** Whether operations need a key unless they say otherwise. */
  readonly keyRequired: boolean;
  /** Whether an administrator's session does instead of a key. */
  readonly sessions: boolean;
}

/** Collects the schemas of every route registered after it. Call before the routes. */
export async function collectOpenApi(app: App, deps: OpenApiDeps): Promise<void> {
  const session = {
    type: 'apiKey' as const,
    in: 'cookie' as const,
    name: sessionCookie,
    description: `The session of an administrator. Requests name their project in "${projectHeader}"; those that change something have "${csrfHeader}".`,
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
        description: deps.description,
        version: deps.version,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
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
    transform: ({ schema, url }) => ({ schema: withBodyLimits(schema), url }),
  });
  let document: string | undefined;
  app.get(
    '/openapi.json',
    {
      schema: {
        operationId: 'getOpenApi',
        tags: ['operations'],
        summary: 'This document: OpenAPI 3.1, made from the schemas that validate the requests.',
        security: [],
      },
    },
    async (_request, reply) => {
      document ??= JSON.stringify(app.swagger());
      return reply.type('application/json; charset=utf-8').send(document);
    },
  );
}

/** Rows of docs/reference/limits.md that bound a whole body, whatever its schema allows. */
const limitsOfBodies = {
  json: ['json_body_bytes', 'json_depth', 'json_members'],
  multipart: ['upload_parts', 'upload_part_headers', 'upload_part_header_bytes', 'upload_field_bytes', 'file_bytes'],
};

function withBodyLimits<Schema extends FastifySchema | undefined>(schema: Schema): Schema {
  if (schema?.body === undefined) return schema;
  const limits = schema.consumes?.includes('multipart/form-data') === true ? 'multipart' : 'json';
  return { ...schema, body: { ...(schema.body as object), 'x-limits': limitsOfBodies[limits] } };
}
