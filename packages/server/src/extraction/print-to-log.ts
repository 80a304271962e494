import { writeSync } from 'node:fs';

/** Sends what libraries print to the standard error, which goes to the log: the standard output carries frames only. */
export function printToLog(): void {
  console.log =
    console.info =
    console.debug =
    console.warn =
    console.error =
      (...things) => {
        writeSync(2, `${things.map(String).join(' ').slice(0, 1000)}\n`);
      };
}
