import { Command } from 'commander';
import { withConnection } from '../connection/service-command.ts';
import type { DoctorOptions } from './run-doctor.ts';

/** Checks what commands need, and on request what a service on this machine needs. */
export function doctorCommand(): Command {
  return withConnection(
    new Command('doctor').description(
      'check the connection to a service: address, version, encryption, clock, key, permissions',
    ),
    'files',
  )
    .option(
      '--local',
      'check this machine instead: Node.js, settings, data folder, disk space, PostgreSQL, object storage and sandbox',
    )
    .action(async (options: DoctorOptions) => (await import('./run-doctor.ts')).runDoctor(options));
}
