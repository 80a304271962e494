import { files } from './files.suite.ts';
import type { HostileCase } from './hostile-case.suite.ts';
import { network } from './network.suite.ts';
import { processes } from './processes.suite.ts';
import { protocol } from './protocol.suite.ts';
import { realm } from './realm.suite.ts';
import { resources } from './resources.suite.ts';

/** Attempts to escape. They are measured with all barriers, and without those of Node. */
export const attempts: Readonly<Record<string, readonly HostileCase[]>> = {
  Files: files,
  Network: network,
  'Processes and rights': processes,
  'The realm of the handler': realm,
};

/** Attempts to do harm from within. The measurement checks how the run ends and that other runs continue. */
export const harm: Readonly<Record<string, readonly HostileCase[]>> = {
  'The channel and the answer': protocol,
  'Time, memory and the process': resources,
};
