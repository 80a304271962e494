import type { Quartermaster } from '@quartermaster/client';
import type { Command } from 'commander';
import type { Address, ConnectionOptions } from './connection.ts';

/** The options of every command that calls a service. */
export interface ServiceOptions extends ConnectionOptions {
  readonly json?: true;
}

/** Adds these options to a command. */
export function withConnection(command: Command, address: Address): Command {
  return command
    .option('--url <url>', `${address} address of the service (default: that of the login, otherwise of the settings)`)
    .option('--key-file <path>', 'file with an API key (default: that of the login)')
    .option('--json', 'print JSON, one object per line');
}

/**
 * Returns the action of such a command, which loads the client when it runs.
 * @param work gets the client, the arguments and the options
 */
export function callService<Given extends readonly [...unknown[], ServiceOptions]>(
  address: Address,
  work: (qm: Quartermaster, ...given: Given) => Promise<void>,
): (...given: Given) => Promise<void> {
  return async (...given) => {
    const { connect } = await import('./connection.ts');
    // Commander appends the command itself.
    const own = given.slice(0, -1) as unknown as Given;
    await work(await connect(own.at(-1) as ServiceOptions, address), ...own);
  };
}
