import { Problem } from '../../platform/problem.ts';
import type { SentRequest } from './access-tokens.ts';
import type { AddressName, Resources } from './resources.ts';

/**
 * Adds to a refusal of an MCP server where its metadata is (RFC 9728 §5.1), so that an application finds out how to sign in.
 * Returns other errors unchanged.
 */
export type AddChallenge = (error: unknown, request: SentRequest) => unknown;

export function createChallenge(resources: Resources, address: AddressName): AddChallenge {
  return (error, request) => {
    const isRefusal = error instanceof Problem && (error.status === 401 || error.status === 403);
    if (!isRefusal || resources.issuer() === null) return error;
    const base = resources.baseOf(address, request.headers.host);
    const [path = '', query] = request.url.split('?', 2);
    const resource = resources.read(base + path);
    if (resource === null) return error;
    const parts = [
      ...(error.status === 403 ? ['error="insufficient_scope"'] : []),
      ...(error.status === 401 && request.headers.authorization !== undefined ? ['error="invalid_token"'] : []),
      `resource_metadata="${metadataUrl(base, path, query)}"`,
      `scope="${resource.scopes.join(' ')}"`,
    ];
    const headers = { ...error.headers, 'WWW-Authenticate': `Bearer ${parts.join(', ')}` };
    const { code, message, details } = error;
    return new Problem(code, message, { headers, ...(details === undefined ? {} : { details }) });
  };
}

/** A query narrows a server, so the metadata repeats it. One that may hold a token, or would end the quoted text, is left out. */
function metadataUrl(base: string, path: string, query: string | undefined): string {
  const isRepeated = query !== undefined && /^[\w=&,.%*-]{1,500}$/.test(query) && !/token|key/i.test(query);
  const rest = isRepeated ? `${path}?${query}` : path;
  return `${base}/.well-known/oauth-protected-resource${rest}`;
}
