import { readFile } from 'node:fs/promises';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { parseConfig, processEnvironment } from '@quartermaster/server';
import { Command } from 'commander';
import { runBridge } from './mcp-bridge.ts';

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
  const base = url ?? addressInSettings();
  if (!URL.canParse(base)) throw new Error(`--url: ${JSON.stringify(base)} is not a URL`);
  const path = bundle === undefined ? '/mcp' : `/mcp/${encodeURIComponent(bundle)}`;
  return new URL(base.replace(/\/+$/, '') + path);
}

function addressInSettings(): string {
  const { publicPluginsUrl, host, pluginsPort } = parseConfig(processEnvironment());
  const name = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return publicPluginsUrl ?? `http://${name}:${pluginsPort}`;
}

async function keyHeader(file: string | undefined): Promise<Record<string, string>> {
  return file === undefined ? {} : { Authorization: `Bearer ${(await readFile(file, 'utf8')).trim()}` };
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
