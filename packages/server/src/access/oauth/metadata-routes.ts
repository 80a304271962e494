import { oauthScopes } from '@quartermaster/contract';
import type { FastifyReply } from 'fastify';
import type { App } from '../../platform/http/app.ts';
import { pathNotFound } from '../../platform/problem.ts';
import type { AddressName, Resources } from './resources.ts';

export interface MetadataDeps {
  readonly resources: Resources;
  readonly address: AddressName;
}

const hidden = { schema: { hide: true } } as const;

/** Lets pages of all origins read an answer and send a request without credentials: tokens are in headers, not in cookies. */
export function openToPages(reply: FastifyReply): FastifyReply {
  return reply
    .header('access-control-allow-origin', '*')
    .header('access-control-allow-headers', 'authorization, content-type, mcp-protocol-version')
    .header('access-control-allow-methods', 'GET, POST')
    .header('cross-origin-resource-policy', 'cross-origin');
}

/** Serves the metadata of the MCP servers (RFC 9728). It does not reveal whether a collection or a bundle exists. */
export function resourceMetadataRoutes(app: App, { resources, address }: MetadataDeps): void {
  const path = '/.well-known/oauth-protected-resource';
  for (const url of [path, `${path}/*`]) {
    app.get(url, hidden, (request, reply) => {
      const issuer = resources.issuer();
      const [asked = '', query] = request.url.slice(path.length).split('?', 2);
      const base = resources.baseOf(address, request.headers.host);
      const server = asked === '' || asked === '/' ? '/mcp' : asked;
      const resource = resources.read(base + server);
      if (issuer === null || resource === null) throw pathNotFound();
      return openToPages(reply)
        .header('cache-control', 'max-age=300')
        .send({
          resource: base + server + (query === undefined ? '' : `?${query}`),
          authorization_servers: [issuer],
          scopes_supported: resource.scopes,
          bearer_methods_supported: ['header'],
          resource_name: 'Quartermaster',
        });
    });
    app.options(url, hidden, (_request, reply) => openToPages(reply).code(204).send());
  }
}

/** Serves the metadata of the authorization server (RFC 8414), also at the path of OpenID Connect. There are no ID tokens. */
export function serverMetadataRoutes(app: App, { resources }: Pick<MetadataDeps, 'resources'>): void {
  const ofOpenId = { subject_types_supported: ['public'], id_token_signing_alg_values_supported: ['RS256'] };
  const paths = { 'oauth-authorization-server': {}, 'openid-configuration': ofOpenId };
  for (const [name, further] of Object.entries(paths)) {
    const url = `/.well-known/${name}`;
    app.get(url, hidden, (_request, reply) => {
      const issuer = resources.issuer();
      if (issuer === null) throw pathNotFound();
      const metadata = { ...serverMetadata(issuer), ...further };
      return openToPages(reply).header('cache-control', 'max-age=300').send(metadata);
    });
    app.options(url, hidden, (_request, reply) => openToPages(reply).code(204).send());
  }
}

function serverMetadata(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    registration_endpoint: `${issuer}/oauth/register`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    jwks_uri: `${issuer}/oauth/jwks`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    token_endpoint_auth_signing_alg_values_supported: ['RS256', 'PS256', 'ES256', 'EdDSA'],
    revocation_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    scopes_supported: [...oauthScopes, 'offline_access'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  };
}
