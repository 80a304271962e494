// Installs the programs that the tests and the proof start, with apt-get, as root on Debian. `.ci/run` calls it. Elsewhere,
// `npm test` names the tests that need a missing program, and the command that installs it.
import { installTools, proofTools, tools } from '../test/support/system-tools.ts';

await installTools([...tools, ...proofTools]);
