import { isLoopback } from '../../platform/http/allowed-hosts.ts';
import { isJsonObject } from '../../platform/json/json-object.ts';
import { isRedirectUri, mostRedirectUris, withLoopbackTwins } from './redirect-uris.ts';

/** Metadata of an application (RFC 7591), reduced to the members that are used. */
export interface ClientMetadata {
  readonly client_name?: string;
  readonly redirect_uris: readonly string[];
  readonly grant_types: readonly string[];
  readonly response_types: readonly string[];
  readonly token_endpoint_auth_method: string;
  readonly application_type: string;
  readonly jwks_uri?: string;
}

export class MetadataError extends Error {
  readonly code: 'invalid_redirect_uri' | 'invalid_client_metadata';

  constructor(code: MetadataError['code'], message: string) {
    super(message);
    this.name = 'MetadataError';
    this.code = code;
  }
}

const longestName = 80;
const grantTypes = ['authorization_code', 'refresh_token'];

/**
 * Reads the members that both kinds of applications have. `scope` is ignored, because a client that registered with some scopes could
 * never ask for more. The type is always `native`, which allows each kind of redirect URI.
 * @throws MetadataError
 */
function readCommon(sent: Readonly<Record<string, unknown>>): Omit<ClientMetadata, 'token_endpoint_auth_method'> {
  const { redirect_uris: uris, client_name: name, grant_types: types = grantTypes } = sent;
  const refused = new MetadataError(
    'invalid_redirect_uri',
    `redirect_uris must be a list of 1 to ${mostRedirectUris} URIs: https, http with a loopback host, or the scheme of a program. Fragments and user names are not allowed.`,
  );
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > mostRedirectUris || !uris.every(isRedirectUri))
    throw refused;
  const used = grantTypes.filter((type) => Array.isArray(types) && types.includes(type));
  if (!used.includes('authorization_code')) {
    throw new MetadataError('invalid_client_metadata', 'grant_types must contain "authorization_code".');
  }
  return {
    ...(typeof name === 'string' && name !== '' ? { client_name: visible(name) } : {}),
    redirect_uris: uris,
    grant_types: used,
    response_types: ['code'],
    application_type: 'native',
  };
}

/** Removes characters that hide or reorder text, and those that would end the quotes around it. The name comes from a stranger. */
function visible(name: string): string {
  const shown = name.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Pi}\p{Pf}"„‟]/gu, '');
  return [...shown].slice(0, longestName).join('');
}

/**
 * Reads a dynamic registration (RFC 7591). Registered applications are public: they have no secret, and the service fetches nothing
 * for them. Other methods are replaced by `none`, as §2 allows.
 * @throws MetadataError
 */
export function readRegistration(body: unknown): ClientMetadata {
  if (!isJsonObject(body)) throw new MetadataError('invalid_client_metadata', 'The body must be a JSON object.');
  const common = readCommon(body);
  const redirect_uris = withLoopbackTwins(common.redirect_uris).slice(0, mostRedirectUris);
  return { ...common, redirect_uris, token_endpoint_auth_method: 'none' };
}

/**
 * Reads a client id metadata document.
 * @throws MetadataError
 */
export function readDocument(id: string, document: unknown): ClientMetadata {
  const refuse = (message: string) => new MetadataError('invalid_client_metadata', message);
  if (!isJsonObject(document) || document.client_id !== id)
    throw refuse('client_id differs from the URL of the document.');
  const { token_endpoint_auth_method: method = 'none', jwks_uri: keys } = document;
  if (Object.keys(document).some((name) => name.startsWith('client_secret')))
    throw refuse('A document must not contain a secret.');
  if (method !== 'none' && method !== 'private_key_jwt') {
    throw refuse('token_endpoint_auth_method must be "none" or "private_key_jwt".');
  }
  if (method === 'none') return { ...readCommon(document), token_endpoint_auth_method: method };
  if (typeof keys !== 'string' || !isFetchable(keys)) throw refuse('jwks_uri must be an https URL.');
  return { ...readCommon(document), token_endpoint_auth_method: method, jwks_uri: keys };
}

const longestDocumentUrl = 2048;

/** Whether a client id is the URL of a metadata document: https, a host name, the default port and a plain path. */
export function isDocumentUrl(id: string): boolean {
  return isFetchable(id) && new URL(id).pathname !== '/';
}

function isFetchable(text: string): boolean {
  if (text.length > longestDocumentUrl || !/^https:\/\/[!-~]+$/.test(text) || /[#\\@]/.test(text)) return false;
  const url = URL.parse(text);
  // A URL that is written in another form than its own would identify the same document by several ids.
  if (url === null || url.href !== text || url.port !== '') return false;
  return !/^(?:[\d.]+|\[.*\])$/.test(url.hostname) && url.hostname.includes('.') && !isLoopback(url.hostname);
}
