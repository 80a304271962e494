// An agent that has only a URL signs in over OAuth, then a model calls tools. Needs the npm package @modelcontextprotocol/client.
// Run: OPENAI_API_KEY=sk-... node examples/agent.ts 'When does the library open?'
import { once } from 'node:events';
import { createServer } from 'node:http';
import * as mcp from '@modelcontextprotocol/client';

const { QM_URL = 'http://127.0.0.1:8080', OPENAI_BASE_URL = 'https://api.openai.com/v1' } = process.env;
const { OPENAI_API_KEY, OPENAI_MODEL = 'gpt-4o-mini' } = process.env;
const headers = { Authorization: `Bearer ${OPENAI_API_KEY}`, 'Content-Type': 'application/json' };
// The browser returns here with a code.
const callback = createServer().listen(0, '127.0.0.1');
await once(callback, 'listening');
const redirectUrl = `http://127.0.0.1:${(callback.address() as { port: number }).port}/callback`;
const returned = once(callback, 'request');
// An agent that you keep stores this in a file that only you can read, so that you sign in once.
type Kept = { client?: mcp.StoredOAuthClientInformation; tokens?: mcp.StoredOAuthTokens; verifier?: string };
const kept: Kept & { discovery?: mcp.OAuthDiscoveryState } = {};
const authProvider: mcp.OAuthClientProvider = {
  redirectUrl,
  clientMetadata: { client_name: 'Example agent', redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none' },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void Object.assign(kept, { client }),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void Object.assign(kept, { tokens }),
  codeVerifier: () => kept.verifier ?? '',
  saveCodeVerifier: (verifier) => void Object.assign(kept, { verifier }),
  discoveryState: () => kept.discovery,
  saveDiscoveryState: (discovery) => void Object.assign(kept, { discovery }),
  redirectToAuthorization: (page) => console.log(`Open ${page}`),
};
async function connect(): Promise<mcp.Client> {
  const client = new mcp.Client({ name: 'example-agent', version: '1.0.0' });
  const transport = new mcp.StreamableHTTPClientTransport(new URL(`${QM_URL}/mcp`), { authProvider });
  const error = await client.connect(transport).catch((reason) => reason);
  if (error === undefined) return client;
  if (!(error instanceof mcp.UnauthorizedError)) throw error;
  const [request, response] = await returned;
  response.end(request.url.includes('error=') ? 'Access refused.' : 'The agent is signed in. Close this page.');
  await transport.finishAuth(new URL(request.url, redirectUrl).searchParams);
  return connect();
}
const client = await connect();
const tools = (await client.listTools()).tools.map(({ name, description, inputSchema: parameters }) => {
  return { type: 'function', function: { name, description, parameters } };
});
type Message = { content: string | null; tool_calls?: { id: string; function: { name: string; arguments: string } }[] };
const messages: object[] = [{ role: 'user', content: process.argv[2] }];
while (messages.length < 50) {
  const body = JSON.stringify({ model: OPENAI_MODEL, messages, tools });
  const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`The model answered ${response.status}: ${await response.text()}`);
  const [{ message }] = ((await response.json()) as { choices: [{ message: Message }] }).choices;
  messages.push(message);
  if (message.content) console.log(message.content);
  if (!message.tool_calls) process.exit();
  for (const { id, function: call } of message.tool_calls) {
    const result = await client.callTool({ name: call.name, arguments: JSON.parse(call.arguments) });
    messages.push({ role: 'tool', tool_call_id: id, content: JSON.stringify(result.content) });
  }
}
