import { createMCPClient } from '@ai-sdk/mcp';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { info, type McpClient, type OpenMcpClient } from '../support/mcp-clients.ts';

/** The client libraries besides the official one, connected as in their documentation. */
export const otherClients: Readonly<Record<string, OpenMcpClient>> = {
  '@modelcontextprotocol/sdk 1': openV1,
  '@langchain/mcp-adapters': openLangChain,
  '@ai-sdk/mcp': openAiSdk,
};

async function openV1(url: string, headers: Record<string, string>): Promise<McpClient> {
  const client = new Client(info);
  // The SDK's own type of a transport conflicts with exactOptionalPropertyTypes.
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) as Parameters<
    typeof client.connect
  >[0];
  await client.connect(transport);
  return {
    listTools: async () => {
      const names: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await client.listTools(cursor === undefined ? {} : { cursor });
        names.push(...page.tools.map(({ name }) => name));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return names;
    },
    callTool: async (name, input) => (await client.callTool({ name, arguments: input })).structuredContent,
    // The methods that are used have the same form.
    reader: client as unknown as NonNullable<McpClient['reader']>,
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
