import { createMCPClient } from '@ai-sdk/mcp';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

/** The common interface of the client libraries: names of tools, and the output of a call as the library returns it. */
export interface McpClient {
  listTools(): Promise<string[]>;
  callTool(name: string, input: Record<string, unknown>): Promise<unknown>;
  close(): Promise<void>;
}

export type OpenMcpClient = (url: string, headers: Record<string, string>) => Promise<McpClient>;

const info = { name: 'quartermaster-test', version: '1.0.0' };

/** The client libraries, connected as in their documentation, each in the revisions that it supports. */
export const mcpClients: Readonly<Record<string, OpenMcpClient>> = {
  '@modelcontextprotocol/client, 2026-07-28': (url, headers) => openV2(url, headers, { pin: '2026-07-28' }),
  '@modelcontextprotocol/client, negotiating': (url, headers) => openV2(url, headers, 'auto'),
  '@modelcontextprotocol/client, as before 2026': (url, headers) => openV2(url, headers, 'legacy'),
  '@modelcontextprotocol/sdk 1': openV1,
  '@langchain/mcp-adapters': openLangChain,
  '@ai-sdk/mcp': openAiSdk,
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
    close: () => client.close(),
  };
}

async function openV1(url: string, headers: Record<string, string>): Promise<McpClient> {
  const client = new ClientV1(info);
  // The SDK's own type of a transport conflicts with exactOptionalPropertyTypes.
  const transport = new TransportV1(new URL(url), { requestInit: { headers } }) as Parameters<typeof client.connect>[0];
  await client.connect(transport);
  return {
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    callTool: async (name, input) => (await client.callTool({ name, arguments: input })).structuredContent,
    close: () => client.close(),
  };
}

async function openLangChain(url: string, headers: Record<string, string>): Promise<McpClient> {
  const client = new MultiServerMCPClient({ mcpServers: { quartermaster: { transport: 'http', url, headers } } });
  const tools = await client.getTools();
  return {
    listTools: async () => tools.map(({ name }) => name),
    callTool: async (name, input) => {
      const tool = tools.find((one) => one.name === name);
      const content: unknown = await tool?.invoke(input);
      return JSON.parse(firstText(content));
    },
    close: () => client.close(),
  };
}

async function openAiSdk(url: string, headers: Record<string, string>): Promise<McpClient> {
  const client = await createMCPClient({ transport: { type: 'http', url, headers } });
  const tools = await client.tools();
  return {
    listTools: async () => Object.keys(tools),
    callTool: async (name, input) => {
      const result: unknown = await tools[name]?.execute(input, { toolCallId: '1', messages: [], context: {} });
      return Reflect.get(Object(result), 'structuredContent');
    },
    close: () => client.close(),
  };
}

/** LangChain returns a single content directly, and several contents as a list. */
function firstText(content: unknown): string {
  const first: unknown = Array.isArray(content) ? content[0] : content;
  return typeof first === 'string' ? first : String(Reflect.get(Object(first), 'text'));
}
