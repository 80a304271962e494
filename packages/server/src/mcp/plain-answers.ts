import { type CallToolResult, ProtocolError, SERVER_INFO_META_KEY } from '@modelcontextprotocol/server';
import type { CompiledPlugin } from '../catalogue/catalogue.ts';
import type { McpAnswer, McpCaller, McpRequest } from './endpoint.ts';
import type { PlainRequest } from './plain-request.ts';
import { listHint, type ProtocolServerDeps, runTool, serverInfo } from './protocol-server.ts';
import type { Toolbox } from './toolbox.ts';

/** What came with a request. */
type Sender = McpCaller & Pick<McpRequest, 'headerOf' | 'signal'>;

/** Answers plain requests as the library would, without its server, its transport and its checks of our own results. */
export function createPlainAnswers(toolbox: Toolbox, deps: ProtocolServerDeps) {
  const identity = { [SERVER_INFO_META_KEY]: serverInfo(deps.version) };
  const listEnd = JSON.stringify({ resultType: 'complete', ...listHint, _meta: identity }).slice(1, -1);

  async function list({ id, isNewest }: PlainRequest): Promise<McpAnswer> {
    const end = `]${isNewest ? `,${listEnd}` : ''}},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
    const around = [Buffer.from('{"result":{"tools":['), Buffer.from(end)] as const;
    const { body } = await toolbox.listed();
    if (Buffer.isBuffer(body)) return json(Buffer.concat([around[0], body, around[1]]));
    return json(ReadableStream.from(between(around, body())));
  }

  function complete(result: CallToolResult): CallToolResult {
    return { ...result, resultType: 'complete', _meta: { ...result._meta, ...identity } };
  }

  async function call(plugin: CompiledPlugin, asked: PlainRequest & { method: 'tools/call' }, sender: Sender) {
    const { id, isNewest, input, meta } = asked;
    try {
      const result = await runTool(deps, { ...sender, plugin, input, meta, onProgress: undefined });
      return json(JSON.stringify({ result: isNewest ? complete(result) : result, jsonrpc: '2.0', id }));
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      const { code, message } = error;
      return json(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }));
    }
  }

  return {
    /** @returns null when there is no such tool, which the library says */
    async answer(asked: PlainRequest, sender: Sender): Promise<McpAnswer | null> {
      if (asked.method === 'tools/list') return await list(asked);
      const plugin = toolbox.findPlugin(asked.name);
      return plugin === undefined ? null : await call(plugin, asked, sender);
    },
  };
}

async function* between(around: readonly [Buffer, Buffer], parts: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  yield around[0];
  yield* parts;
  yield around[1];
}

function json(body: string | Buffer | ReadableStream): McpAnswer {
  return {
    status: 200,
    headers: [['content-type', 'application/json']],
    body: typeof body === 'string' ? Buffer.from(body) : body,
  };
}
