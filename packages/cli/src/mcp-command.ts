import { processEnvironment } from '@quartermaster/server/environment';
import { Command } from 'commander';

interface Options {
  readonly url?: string;
  readonly keyFile?: string;
  readonly tools?: string;
  readonly credential: readonly string[];
}

/** Reads secrets from a file or the environment, because all users of the machine can see a command line. */
export function mcpCommand(): Command {
  return new Command('mcp')
    .argument('[bundle]', 'id of the bundle whose tools to serve (default: all bundles)')
    .description('serve MCP on standard input and output for clients without HTTP; requires a running service')
    .option('--url <url>', 'plugins address of the service (default: that of the login, otherwise of the settings)')
    .option('--key-file <path>', 'file with an API key (default: that of the login)')
    .option('--tools <names>', 'serve these tools, separated by commas, or `all` to list every tool')
    .option(
      '--credential <name>',
      'send the credential with this name, from the environment variable with the same name',
      append,
      [],
    )
    .action(async (bundle: string | undefined, options: Options) => {
      const { StdioServerTransport } = await import('@modelcontextprotocol/server/stdio');
      const { findConnection } = await import('./connection/connection.ts');
      const { runBridge } = await import('./mcp-bridge.ts');
      const { filesUrl, pluginsUrl, apiKey } = await findConnection(options, 'plugins');
      const path = bundle === undefined ? '/mcp' : `/mcp/${encodeURIComponent(bundle)}`;
      const authorization = apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` };
      await runBridge({
        url: endpointOf(`${pluginsUrl ?? filesUrl}${path}`, options.tools),
        headers: { ...authorization, ...credentialHeaders(options.credential) },
        transport: new StdioServerTransport(),
      });
    });
}

function append(name: string, names: readonly string[]): string[] {
  return [...names, name];
}

function endpointOf(address: string, tools: string | undefined): URL {
  const url = new URL(address);
  if (tools !== undefined) url.searchParams.set('tools', tools);
  return url;
}

/** Encodes all credentials in one header, so that a credential may contain any text. */
function credentialHeaders(names: readonly string[]): Record<string, string> {
  const environment = processEnvironment();
  const credentials = names.map((name) => {
    const value = environment[name];
    if (value === undefined || value === '')
      throw new Error(
        `--credential ${name}: the environment variable ${name} is not set. Set it, or leave the option out.`,
      );
    return [name, value];
  });
  const json = JSON.stringify(Object.fromEntries(credentials));
  return names.length === 0 ? {} : { 'X-Plugin-Credentials': Buffer.from(json).toString('base64url') };
}
