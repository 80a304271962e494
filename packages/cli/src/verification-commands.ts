import { Command } from 'commander';
import { withAdministration } from './administration.ts';
import { type JsonOption, jsonOption, printJson, printResult } from './output/print.ts';

/** Controls the background verification of stored files, which a running service performs. */
export function verificationCommands(): Command {
  const verification = new Command('verification').description('control the background verification of stored files');
  verification
    .command('status')
    .description('print the progress of the verification')
    .option(...jsonOption)
    .action(({ json }: JsonOption) =>
      withAdministration(async ({ verification }) => {
        const found = await verification.findVerification();
        const time = (at: number | null | undefined) => (at == null || at === 0 ? null : new Date(at).toISOString());
        const status = {
          paused: found?.paused ?? false,
          pass_started: time(found?.passStartedAt),
          pass_files: found?.passBlobs ?? 0,
          pass_bytes: found?.passBytes ?? 0,
          last_finished: time(found?.finishedAt),
        };
        printJson(status, json === true ? undefined : 2);
      }),
    );
  for (const [name, paused] of [
    ['pause', true],
    ['resume', false],
  ] as const) {
    verification
      .command(name)
      .description(`${name} the verification; a running service notices it within a minute`)
      .option(...jsonOption)
      .action((options: JsonOption) =>
        withAdministration(async ({ verification }) => {
          await verification.pauseVerification(paused);
          printResult(options, { paused }, () => console.log(paused ? 'verification paused' : 'verification resumed'));
        }),
      );
  }
  return verification;
}
