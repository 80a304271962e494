import { files } from './files.suite.ts';
import type { HostileCase } from './hostile-case.suite.ts';
import { network } from './network.suite.ts';
import { processes } from './processes.suite.ts';
import { protocol } from './protocol.suite.ts';
import { realm } from './realm.suite.ts';
import { resources } from './resources.suite.ts';

/** Attempts to get out: measured as a whole, and with all that Node does taken away. */
export const attempts: Readonly<Record<string, readonly HostileCase[]>> = {
  Files: files,
  Network: network,
  'Processes and rights': processes,
  'The realm of the handler': realm,
};

/** Attempts to do harm from within: measured by how the run ends, and that others go on. */
export const harm: Readonly<Record<string, readonly HostileCase[]>> = {
  'The channel and the answer': protocol,
  'Time, memory and the process': resources,
};
