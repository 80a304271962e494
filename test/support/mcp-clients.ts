import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Ending } from './service.ts';

/** The common interface of the client libraries: names of tools, and the output of a call as the library returns it. */
export interface McpClient {
  listTools(): Promise<string[]>;
  callTool(name: string, input: Record<string, unknown>): Promise<unknown>;
  /** Reads documents as resources, if the library can. */
  readonly reader?: Pick<Client, 'listResources' | 'listResourceTemplates' | 'readResource'>;
  close(): Promise<void>;
}

export type OpenMcpClient = (url: string, headers: Record<string, string>) => Promise<McpClient>;

export const info = { name: 'quartermaster-test', version: '1.0.0' };

/** The official client, in the revisions that it supports. `test/compat/other-clients.ts` has the other libraries. */
export const mcpClients: Readonly<Record<string, OpenMcpClient>> = {
  '@modelcontextprotocol/client, 2026-07-28': (url, headers) => openV2(url, headers, { pin: '2026-07-28' }),
  '@modelcontextprotocol/client, negotiating': (url, headers) => openV2(url, headers, 'auto'),
  '@modelcontextprotocol/client, as before 2026': (url, headers) => openV2(url, headers, 'legacy'),
};

async function openV2(
  url: string,
  headers: Record<string, string>,
  mode: 'auto' | 'legacy' | { pin: string },
): Promise<McpClient> {
  const client = new Client(info, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return {
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    callTool: async (name, input) => (await client.callTool({ name, arguments: input })).structuredContent,
    reader: client,
    close: () => client.close(),
  };
}

/** Connects the official client, which is closed with the test. */
export async function connectMcp(
  t: Ending,
  url: string,
  headers: Readonly<Record<string, string>> = {},
  revision?: string,
): Promise<Client> {
  const modes = { '2026-07-28': { pin: '2026-07-28' }, '2025-11-25': 'legacy' } as const;
  const mode = revision === undefined ? {} : { versionNegotiation: { mode: Reflect.get(modes, revision) } };
  const client = new Client(info, mode);
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  t.after(() => client.close());
  return client;
}
