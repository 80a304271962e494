import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

/** An MCP server built with the SDK that most servers use. It requires a token and records its requests. */
export interface ToolServer {
  readonly origin: string;
  /** The received JSON-RPC methods in order. */
  readonly asked: string[];
  /** Changes the description of a tool from now on. */
  describeSearch(description: string): void;
  /** Sets the response to `tools/list` from now on, independently of the tools. */
  listAs(answer: { readonly result: unknown } | { readonly error: unknown }): void;
  close(): Promise<void>;
}

export const token = 'mcp-token-5f3a';

/** @param style with sessions and event streams, or without sessions and with plain JSON */
export async function startToolServer(style: 'stateful' | 'stateless'): Promise<ToolServer> {
  let description = 'Searches the notes.';
  let listing: object | null = null;
  const methods: string[] = [];
  const sessions = new Map<string, StreamableHTTPServerTransport>();

  async function open(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport(
      style === 'stateful'
        ? { sessionIdGenerator: randomUUID, onsessioninitialized: (id) => void sessions.set(id, transport) }
        : { enableJsonResponse: true },
    );
    // The SDK's own type of a transport conflicts with exactOptionalPropertyTypes.
    await createToolServer(description).connect(transport as Parameters<McpServer['connect']>[0]);
    return transport;
  }

  const server = createServer((request, response) => {
    void (async () => {
      if (request.headers.authorization !== `Bearer ${token}`) {
        response.writeHead(401).end('who are you?');
        return;
      }
      const message: unknown = request.method === 'POST' ? await json(request) : undefined;
      methods.push(request.method === 'POST' ? String(Reflect.get(Object(message), 'method')) : String(request.method));
      if (listing !== null && methods.at(-1) === 'tools/list') {
        const answer = { jsonrpc: '2.0', id: Reflect.get(Object(message), 'id'), ...listing };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
        return;
      }
      const known = sessions.get(String(request.headers['mcp-session-id']));
      await (known ?? (await open())).handleRequest(request, response, message);
    })();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    origin: `http://127.0.0.1:${port}`,
    asked: methods,
    describeSearch: (text) => {
      description = text;
    },
    listAs: (answer) => {
      listing = answer;
    },
    close: async () => {
      for (const transport of sessions.values()) await transport.close();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function createToolServer(description: string): McpServer {
  const server = new McpServer({ name: 'Notes', version: '2.1.0' }, { instructions: 'Notes of a team.' });
  const hit = z.object({ id: z.string(), score: z.number() });
  server.registerTool(
    'search-notes',
    {
      title: 'Search notes',
      description,
      inputSchema: { query: z.string().min(1).describe('Words.'), limit: z.number().int().max(10).default(3) },
      outputSchema: { hits: z.array(hit), said: z.string() },
      annotations: { readOnlyHint: true },
    },
    ({ query, limit }) => {
      const structuredContent = { hits: [{ id: query, score: limit }], said: `Bearer ${token}` };
      return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
    },
  );
  server.registerTool('delete_note', { inputSchema: { id: z.string() } }, ({ id }) => {
    if (id === 'none') return { isError: true, content: [{ type: 'text', text: 'there is no such note' }] };
    return {
      content: [
        { type: 'text', text: 'deleted' },
        { type: 'text', text: id },
      ],
    };
  });
  server.registerTool('draw', { description: 'Draws.', annotations: { destructiveHint: false } }, () => {
    return { content: [{ type: 'image', data: 'iVBORw0=', mimeType: 'image/png' }] };
  });
  server.registerPrompt('greet', {}, () => ({ messages: [] }));
  return server;
}
