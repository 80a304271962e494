// A tool that adds two numbers, as an MCP server: over stdio for the gateways, or over HTTP with `mcp-host.mjs http`.
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

function createAdder() {
  const server = new McpServer({ name: 'adder', version: '1.0.0' });
  const [inputSchema, outputSchema] = [{ number_1: z.number(), number_2: z.number() }, { result: z.number() }];
  server.registerTool('add', { inputSchema, outputSchema }, ({ number_1, number_2 }) => {
    const structuredContent = { result: number_1 + number_2 };
    return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] };
  });
  return server;
}

if (process.argv[2] !== 'http') await createAdder().connect(new StdioServerTransport());
else {
  const listening = createServer(async (request, response) => {
    // Without sessions, the library allows one request for each transport.
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
    response.on('close', () => transport.close());
    await createAdder().connect(transport);
    await transport.handleRequest(request, response);
  }).listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${listening.address().port}`));
}
