import type { Command } from 'commander';
import type { Address } from './connection.ts';

/** Adds the options of every command that calls a service. */
export function withConnection(command: Command, address: Address): Command {
  return command
    .option('--url <url>', `${address} address of the service (default: that of the login, otherwise of the settings)`)
    .option('--key-file <path>', 'file with an API key (default: that of the login)')
    .option('--json', 'print JSON, one object per line');
}
