import type { Scope } from '@quartermaster/contract';

/**
 * What each request needs. The matrix test sends every request with every kind of caller, and the page of the reference is written
 * from this table. A route that is missing here fails the test.
 */
export type Need = Scope | keyof typeof otherNeeds;

/** Needs that no single scope of a key expresses, with what the page says about them. */
export const otherNeeds = {
  nothing: { title: 'Nothing', keys: 'not needed', people: 'not needed' },
  'any key': { title: 'Any key', keys: 'any', people: 'none' },
  'any person': { title: 'A session', keys: 'none', people: 'all' },
  'own projects': { title: 'A session, or a key of scope `admin`', keys: '`admin`', people: 'all' },
  'project administrator': { title: 'An administrator of the project', keys: 'none', people: '`administrator`' },
  'service administrator': {
    title: 'An administrator of the service',
    keys: 'none',
    people: 'administrators of the service',
  },
  'plugins:read or collections:read': {
    title: 'Either scope',
    keys: '`plugins:read` or `collections:read`',
    people: 'none',
  },
  'metrics or plugins': { title: 'Either scope', keys: '`metrics` or `plugins`', people: 'none' },
} as const;

/** Needs of which either scope is enough. */
export const either: Readonly<Partial<Record<Need, readonly Scope[]>>> = {
  'plugins:read or collections:read': ['plugins:read', 'collections:read'],
  'metrics or plugins': ['metrics', 'plugins'],
  'own projects': ['admin'],
};

export type AddressName = 'files' | 'plugins';
type Rows = Readonly<Partial<Record<Need, string>>>;

/** The methods and paths of each address. `HEAD` needs what `GET` needs. */
export const table: Readonly<Record<AddressName, Rows>> = {
  files: {
    nothing: `
      GET /openapi.json
      GET /v1/health_check
      GET /v1/ready
      GET /v1/version
      GET /v1/setup
      POST /v1/setup
      POST /v1/session
      GET /v1/sign_in
      GET /v1/sign_in/oidc
      POST /v1/sign_in/oidc
      GET /
      GET /setup
      GET /sign-in
      GET /sign-in/callback
      GET /files
      GET /collections
      GET /collections/*
      GET /catalogue
      GET /catalogue/*
      GET /runs
      GET /runs/*
      GET /credentials
      GET /settings
      GET /applications
      GET /audit
      GET /jobs
      GET /people
      GET /oauth/requests/:request_id
      GET /docs
      GET /docs/*
      GET /docs/api
      GET /favicon.svg
      GET /assets/*
      GET /.well-known/oauth-protected-resource
      GET /.well-known/oauth-protected-resource/*
      GET /.well-known/oauth-authorization-server
      GET /.well-known/openid-configuration
      OPTIONS /.well-known/oauth-protected-resource
      OPTIONS /.well-known/oauth-protected-resource/*
      OPTIONS /.well-known/oauth-authorization-server
      OPTIONS /.well-known/openid-configuration
      GET /oauth/authorize
      GET /oauth/authorize/:request_id
      GET /oauth/jwks
      POST /oauth/token
      POST /oauth/revoke
      POST /oauth/register
      OPTIONS /oauth/jwks
      OPTIONS /oauth/token
      OPTIONS /oauth/revoke
      OPTIONS /oauth/register
      GET /connect/:token
      POST /connect/:token
      GET /connect/callback
      GET /connect/confirm
      POST /connect/confirm`,
    'any key': 'GET /v1/key',
    'any person': `
      GET /v1/session
      DELETE /v1/session
      POST /v1/session/password
      GET /v1/sessions
      DELETE /v1/sessions/:session_id
      GET /oauth/requests/:request_id/details
      POST /oauth/requests/:request_id/decision`,
    'own projects': `
      GET /v1/projects
      GET /v1/applications
      DELETE /v1/applications/:application_id`,
    'service administrator': `
      POST /v1/projects
      DELETE /v1/projects/:project_id
      GET /v1/project_deletions
      GET /v1/accounts
      PATCH /v1/accounts/:account_id
      DELETE /v1/accounts/:account_id
      GET /v1/embedding_models
      POST /v1/embedding_models
      GET /v1/packages
      POST /v1/bundle_plans
      POST /v1/bundle_plans/:bundle_plan_id/install
      GET /v1/installed_bundles
      DELETE /v1/installed_bundles/:bundle_id
      GET /v1/oauth_clients/:bundle_id
      PUT /v1/oauth_clients/:bundle_id
      DELETE /v1/oauth_clients/:bundle_id`,
    'project administrator': `
      GET /v1/projects/:project_id/members
      PUT /v1/projects/:project_id/members/:account_id
      DELETE /v1/projects/:project_id/members/:account_id`,
    admin: `
      GET /v1/projects/:project_id/keys
      POST /v1/projects/:project_id/keys
      POST /v1/projects/:project_id/keys/:key_id/rotate
      DELETE /v1/projects/:project_id/keys/:key_id
      GET /v1/projects/:project_id/rate_limits
      POST /v1/projects/:project_id/rate_limits
      DELETE /v1/projects/:project_id/rate_limits/:rate_limit_id
      GET /v1/audit_events
      GET /v1/audit_events/export`,
    metrics: 'GET /metrics',
    'files:read': `
      GET /v1/files
      GET /v1/files/:file_id
      GET /v1/files/:file_id/content
      GET /v1/limits`,
    files: `
      POST /v1/files
      DELETE /v1/files/:file_id
      PUT /openwebui/process`,
    'collections:read': `
      GET /v1/collections
      GET /v1/collections/:collection_id
      GET /v1/collections/:collection_id/embedding_failures
      GET /v1/collections/:collection_id/evaluations
      GET /v1/collections/:collection_id/records
      GET /v1/collections/:collection_id/records/:record_id
      GET /v1/collections/:collection_id/records/:record_id/events
      GET /v1/collections/:collection_id/records/:record_id/rows
      GET /v1/collections/:collection_id/records/:record_id/text
      GET /v1/collections/:collection_id/records/:record_id/pages/:page/picture
      GET /v1/collections/:collection_id/records/:record_id/chunks
      GET /v1/collections/:collection_id/chunks
      GET /v1/collections/:collection_id/chunks/:chunk_id
      GET /v1/collections/:collection_id/chunks/:chunk_id/boxes
      POST /v1/collections/:collection_id/chunks/query
      POST /v1/chunks/query
      POST /dify/retrieval
      POST /mcp/collections/:collection_id
      POST /mcp/collections/:collection_id/`,
    collections: `
      POST /v1/collections
      POST /v1/collections/:collection_id
      DELETE /v1/collections/:collection_id
      POST /v1/collections/:collection_id/reembed
      POST /v1/collections/:collection_id/evaluations
      POST /v1/collections/:collection_id/embedding_failures/retry
      POST /v1/collections/:collection_id/records
      POST /v1/collections/:collection_id/records/:record_id
      DELETE /v1/collections/:collection_id/records/:record_id
      POST /v1/collections/:collection_id/records/:record_id/retry
      POST /v1/collections/:collection_id/records/:record_id/cancel
      POST /v1/collections/:collection_id/records/:record_id/restore
      POST /v1/collections/:collection_id/chunks
      POST /v1/collections/:collection_id/chunks/:chunk_id
      DELETE /v1/collections/:collection_id/chunks/:chunk_id`,
    'plugins:read or collections:read': `
      POST /mcp
      POST /mcp/`,
    'plugins:read': `
      GET /plugins/v1/*
      POST /plugins/v1/*
      POST /mcp/:bundle_id
      POST /mcp/:bundle_id/`,
    plugins: 'DELETE /plugins/v1/*',
  },
  plugins: {
    nothing: `
      GET /openapi.json
      GET /v1/health_check
      GET /v1/ready
      GET /v1/version
      GET /docs
      GET /docs/*
      GET /docs/api
      GET /favicon.svg
      GET /assets/*
      GET /.well-known/oauth-protected-resource
      GET /.well-known/oauth-protected-resource/*
      OPTIONS /.well-known/oauth-protected-resource
      OPTIONS /.well-known/oauth-protected-resource/*
      GET /v1/artifacts/:artifact_id/content`,
    'metrics or plugins': 'GET /metrics',
    'plugins:read': `
      GET /v1/bundles
      GET /v1/bundles/:bundle_id
      GET /v1/bundles/:bundle_id/icon
      GET /v1/bundles/:bundle_id/openapi.json
      GET /v1/plugins
      GET /v1/plugins/:bundle_id/:plugin_id
      GET /v1/credential_profiles
      GET /v1/credential_profiles/:name
      POST /v1/execute
      POST /v1/plugins/:bundle_id/:plugin_id/options
      POST /v1/bundles/:bundle_id/plugins/:plugin_id/execute
      GET /v1/runs
      GET /v1/runs/:run_id
      GET /v1/runs/:run_id/events
      GET /v1/artifacts/:artifact_id
      POST /mcp/:bundle_id
      POST /mcp/:bundle_id/`,
    plugins: `
      POST /v1/verify_credentials
      POST /v1/runs/:run_id/cancel
      DELETE /v1/artifacts/:artifact_id`,
    connections: `
      GET /v1/connections
      POST /v1/connections
      GET /v1/connections/:connection_id
      POST /v1/connections/:connection_id/link
      POST /v1/connections/:connection_id/confirm
      DELETE /v1/connections/:connection_id
      DELETE /v1/end_users/:end_user`,
    admin: `
      POST /v1/credential_profiles
      POST /v1/credential_profiles/:name
      DELETE /v1/credential_profiles/:name`,
    'plugins:read or collections:read': `
      POST /mcp
      POST /mcp/`,
    'collections:read': `
      POST /mcp/collections/:collection_id
      POST /mcp/collections/:collection_id/`,
  },
};

/** What each request of MCP needs, beside the scope of its server. `nobody` names what no caller may do. */
export const mcpNeeds = {
  'plugins:read or collections:read': ['initialize', 'ping', 'tools/list'],
  'collections:read': [
    'resources/list',
    'resources/templates/list',
    'resources/read',
    'search',
    'fetch',
    'list_collections',
  ],
  'plugins:read': ['search_tools', 'call_read_tool', 'call_tool', 'a plugin that reads'],
  plugins: ['a plugin that writes', 'call_tool with a plugin that writes'],
  nobody: ['call_read_tool with a plugin that writes'],
} as const satisfies Readonly<Partial<Record<Need | 'nobody', readonly string[]>>>;

export interface Route {
  readonly address: AddressName;
  readonly method: string;
  readonly path: string;
  readonly need: Need;
}

export const routes: readonly Route[] = (['files', 'plugins'] as const).flatMap((address) =>
  Object.entries(table[address]).flatMap(([need, lines]) =>
    lines
      .trim()
      .split('\n')
      .map((line) => {
        const [method = '', path = ''] = line.trim().split(' ');
        return { address, method, path, need: need as Need }; // the keys of the table
      }),
  ),
);
