import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { processEnvironment } from '@quartermaster/server';
import { Command } from 'commander';
import { runBridge } from './mcp-bridge.ts';
import { pluginsAddress, readKeyFile } from './service-address.ts';

interface Options {
  readonly url?: string;
  readonly keyFile?: string;
  readonly credential: readonly string[];
}

/** Secrets come from a file or the environment: a command line is seen by every user of the machine. */
export function mcpCommand(): Command {
  return new Command('mcp')
    .argument('[bundle]', 'id of a bundle; without it the tools of every bundle')
    .description('an MCP server on standard input and output, for clients without HTTP; a service must be running')
    .option('--url <url>', 'its plugins address (default: as the settings say)')
    .option('--key-file <path>', 'file that holds an API key')
    .option('--credential <name>', 'credential to send with each call, from the variable of this name', append, [])
    .action(async (bundle: string | undefined, options: Options) => {
      await runBridge({
        url: endpointOf(options.url, bundle),
        headers: { ...(await keyHeader(options.keyFile)), ...credentialHeaders(options.credential) },
        transport: new StdioServerTransport(),
      });
    });
}

function append(name: string, names: readonly string[]): string[] {
  return [...names, name];
}

function endpointOf(url: string | undefined, bundle: string | undefined): URL {
  const path = bundle === undefined ? '/mcp' : `/mcp/${encodeURIComponent(bundle)}`;
  return new URL(pluginsAddress(url) + path);
}

async function keyHeader(file: string | undefined): Promise<Record<string, string>> {
  const key = await readKeyFile(file);
  return key === undefined ? {} : { Authorization: `Bearer ${key}` };
}

/** In one header and encoded, so that a credential may be any text. */
function credentialHeaders(names: readonly string[]): Record<string, string> {
  const environment = processEnvironment();
  const credentials = names.map((name) => {
    const value = environment[name];
    if (value === undefined || value === '') throw new Error(`--credential: the variable ${name} is not set`);
    return [name, value];
  });
  const json = JSON.stringify(Object.fromEntries(credentials));
  return names.length === 0 ? {} : { 'X-Plugin-Credentials': Buffer.from(json).toString('base64url') };
}
